// Pages that follow the store. All text from the server becomes text nodes: nothing that
// a label, a disk or a file says is ever read as HTML.
(function () {
'use strict';
var page = document.getElementById('page'), status = document.getElementById('status');
var SVG = 'http://www.w3.org/2000/svg';

// ---- elements ----
function add(to, name, attributes, text) {
  var e = document.createElement(name);
  Object.keys(attributes || {}).forEach(function (key) { e.setAttribute(key, attributes[key]); });
  if (text !== undefined && text !== null) e.textContent = String(text);
  if (to) to.appendChild(e);
  return e;
}
function draw(to, name, attributes, text) {
  var e = document.createElementNS(SVG, name);
  Object.keys(attributes || {}).forEach(function (key) { e.setAttribute(key, attributes[key]); });
  if (text !== undefined && text !== null) e.textContent = String(text);
  if (to) to.appendChild(e);
  return e;
}
function clear(e) { while (e.firstChild) e.removeChild(e.firstChild); }
function say(text) { if (status.textContent !== text) status.textContent = text; }

// ---- asking ----
function ask(path, posted) {
  var how = posted === undefined ? {} : { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(posted) };
  return fetch(path, how).then(function (answer) {
    return answer.text().then(function (text) {
      var lines = text.split('\n').filter(Boolean);
      if (answer.ok) return lines.map(function (line) { return JSON.parse(line); });
      var failed;
      try { failed = JSON.parse(lines[0]); } catch (e) { failed = { error: lines[0] || 'the server failed' }; }
      throw new Error(failed.error + (failed.hint ? ' (' + failed.hint + ')' : ''));
    });
  });
}
function query(values) {
  return Object.keys(values).filter(function (key) { return values[key] !== '' && values[key] !== undefined; })
    .map(function (key) { return key + '=' + encodeURIComponent(values[key]); }).join('&');
}
function trouble(error) { say(error && error.message === 'Failed to fetch' ? 'The server does not answer.' : String(error.message || error)); }

// ---- numbers ----
function grouped(n) { return Math.round(n).toString().replace(/\B(?=(\d{3})+(?!\d))/g, ','); }
var KINDS = ['read', 'write', 'discard'];
// What is neither read nor discarded is written; of reads and writes alone the first says both.
function sharesOf(job) {
  var reads = job.read_percent, discards = job.discard_percent || 0;
  return [[reads, 'read'], [100 - reads - discards, 'write'], [discards, 'discard']].filter(function (s) { return s[0] > 0; });
}
function mixOf(job) {
  if (!job.discard_percent) return job.read_percent + ' % reads';
  return sharesOf(job).map(function (s) { return s[0] + ' % ' + s[1] + 's'; }).join(', ');
}
function kindOf(job) {
  var shares = sharesOf(job);
  if (shares.length === 1) return shares[0][1];
  return (job.discard_percent ? shares : shares.slice(0, 1)).map(function (s) { return s[0] + ' % ' + s[1]; }).join(', ');
}
function rate(n) { return n < 99.95 ? n.toFixed(1) : grouped(n); }
// Words with `code` in them.
function words(e, text) {
  String(text).split('`').forEach(function (part, i) { if (part) { if (i % 2) add(e, 'code', {}, part); else e.appendChild(document.createTextNode(part)); } });
  return e;
}
function three(n) { return n >= 99.95 ? n.toFixed(0) : n >= 9.995 ? n.toFixed(1) : n.toFixed(2); }
function time(ns) {
  if (ns < 1e3) return Math.round(ns) + ' ns';
  if (ns < 999.5e3) return three(ns / 1e3) + ' \u00b5s';
  if (ns < 999.5e6) return three(ns / 1e6) + ' ms';
  if (ns < 120e9) return three(ns / 1e9) + ' s';
  var s = Math.round(ns / 1e9), h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60;
  return h ? h + ' h ' + m + ' min' : m + ' min ' + s % 60 + ' s';
}
function bytes(n) {
  var units = ['', 'K', 'M', 'G', 'T'], i = 0;
  while (n >= 1024 && n % 512 === 0 && i < 4) { n /= 1024; i++; }
  return n + units[i];
}
function size(n) {
  var units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'], i = 0;
  while (n >= 1024 && i < 5) { n /= 1024; i++; }
  return (i ? n.toFixed(1).replace(/\.0$/, '') : n) + ' ' + units[i];
}
function moment(text) { return text ? text.slice(0, 16).replace('T', ' ') + ' UTC' : ''; }
function limitOf(text) {
  var m = /^(p50|p90|p95|p99|p99\.9|mean|max)\s*<\s*([\d.]+)\s*(ns|us|\u00b5s|ms|s)$/.exec(text || '');
  var unit = m && { ns: 1, us: 1e3, '\u00b5s': 1e3, ms: 1e6, s: 1e9 }[m[3]];
  return m ? { words: m[1] + ' < ' + m[2] + ' ' + m[3], ns: parseFloat(m[2]) * unit } : null;
}

// ---- charts: lines on one pair of axes ----
function nice(low, high, wanted) {
  var span = high - low || 1, rough = span / wanted, power = Math.pow(10, Math.floor(Math.log10(rough)));
  var step = [1, 2, 5, 10].map(function (f) { return f * power; }).find(function (s) { return s >= rough * 0.999; });
  var ticks = [];
  for (var v = Math.ceil(low / step - 1e-9) * step; v <= high + step * 1e-9; v += step) ticks.push(v);
  return ticks;
}
function logTicks(low, high) {
  var ticks = [], few = Math.log10(high / low) < 2;
  for (var p = Math.floor(Math.log10(low)); p <= Math.ceil(Math.log10(high)); p++)
    (few ? [1, 2, 5] : [1]).forEach(function (f) { var v = f * Math.pow(10, p); if (v >= low && v <= high) ticks.push(v); });
  return ticks;
}
// options: title, summary, lines [{name, points [[x, y]...], tone, marks}], log, xLog, x, y (formats), xName, limit {ns, words}, changes [x...]
// Drawings are as wide as they will stand, so that words keep their size on a phone.
function widthIn(to) { return Math.max(320, Math.min(1400, to.clientWidth || 900)); }
function chart(to, options) {
  // Drawn as wide as it will stand, so that words keep their size on a phone.
  var figure = add(to, 'figure'), W = Math.max(320, Math.min(620, to.clientWidth || 620)), H = options.height || 230, left = 64, right = 14, top = 12, bottom = 38;
  add(figure, 'figcaption', {}, options.title);
  var all = [], xs = [];
  options.lines.forEach(function (line) { line.points.forEach(function (p) { if (!options.log || p[1] > 0) all.push(p[1]); xs.push(p[0]); }); });
  var limit = options.limit && all.length && (options.limit.ns < Math.max.apply(null, all) * 20) ? options.limit : null;
  if (!all.length) { add(figure, 'p', { class: 'muted' }, options.empty || 'Nothing yet.'); return figure; }
  if (limit) all.push(limit.ns);
  var low = Math.min.apply(null, all), high = Math.max.apply(null, all), xLow = Math.min.apply(null, xs), xHigh = Math.max.apply(null, xs);
  if (options.log) { low /= 1.15; high *= 1.15; } else { low = 0; high = high * 1.06 || 1; }
  if (xHigh <= xLow) { xHigh = options.xLog ? xLow * 2 : xLow + 1; }
  var place = function (v, a, b, log) { return log ? Math.log(v / a) / Math.log(b / a) : (v - a) / (b - a); };
  var X = function (v) { return left + (W - left - right) * place(v, xLow, xHigh, options.xLog); };
  var Y = function (v) { return H - bottom - (H - bottom - top) * place(v, low, high, options.log); };
  var svg = draw(figure, 'svg', { viewBox: '0 0 ' + W + ' ' + H, class: 'chart', role: 'img', 'aria-label': options.title + '. ' + (options.summary || '') });
  (options.log ? logTicks(low, high) : nice(low, high, 5)).forEach(function (v) {
    draw(svg, 'line', { x1: left, x2: W - right, y1: Y(v), y2: Y(v), class: 'grid' });
    draw(svg, 'text', { x: left - 6, y: Y(v) + 4, 'text-anchor': 'end' }, v === 0 ? '0' : options.y(v).replace(/\.0+(?= |$)/, ''));
  });
  draw(svg, 'line', { x1: left, x2: W - right, y1: H - bottom, y2: H - bottom, class: 'axis' });
  var ticks = options.xTicks || (options.xLog ? xs.filter(function (v, i) { return xs.indexOf(v) === i; }) : nice(xLow, xHigh, 5)), free = -1e9;
  ticks.sort(function (a, b) { return a - b; }).forEach(function (v) {
    var words = options.x(v), half = words.length * 3.6, middle = Math.min(X(v), W - half);
    if (middle - half < free) return;
    free = middle + half + 8;
    draw(svg, 'text', { x: middle, y: H - bottom + 16, 'text-anchor': 'middle' }, words);
  });
  draw(svg, 'text', { x: (left + W - right) / 2, y: H - 5, 'text-anchor': 'middle' }, options.xName || '');
  (options.changes || []).forEach(function (x) { draw(svg, 'line', { x1: X(x), x2: X(x), y1: top, y2: H - bottom, class: 'change' }); });
  if (limit) draw(svg, 'line', { x1: left, x2: W - right, y1: Y(limit.ns), y2: Y(limit.ns), class: 'limit' });
  options.lines.forEach(function (line) {
    var points = line.points.filter(function (p) { return !options.log || p[1] > 0; });
    if (points.length > 1) draw(svg, 'polyline', { class: 'line ' + line.tone, points: points.map(function (p) { return X(p[0]).toFixed(1) + ',' + Y(p[1]).toFixed(1); }).join(' ') });
    if (line.marks || points.length === 1) points.forEach(function (p, i) {
      var c = draw(svg, 'circle', { cx: X(p[0]), cy: Y(p[1]), r: 3.5, class: fill(line.tone) });
      draw(c, 'title', {}, (line.names ? line.names[i] + ': ' : '') + options.x(p[0]) + ', ' + options.y(p[1]));
    });
  });
  var named = options.lines.filter(function (line) { return line.name; });
  if (named.length > 1 || limit) {
    var legend = add(figure, 'ul', { class: 'legend' });
    named.forEach(function (line) {
      var item = add(legend, 'li'), key = draw(item, 'svg', { viewBox: '0 0 28 14', 'aria-hidden': 'true' });
      draw(key, 'line', { x1: 1, x2: 27, y1: 7, y2: 7, class: 'line ' + line.tone });
      item.appendChild(document.createTextNode(line.name));
    });
    if (limit) {
      var item = add(legend, 'li'), key = draw(item, 'svg', { viewBox: '0 0 28 14', 'aria-hidden': 'true' });
      draw(key, 'line', { x1: 1, x2: 27, y1: 7, y2: 7, class: 'limit' });
      item.appendChild(document.createTextNode('limit: ' + limit.words));
    }
  }
  return figure;
}
function fill(tone) { return (tone[0] === 'p' ? 'fp' : 'f') + tone.slice(1); }
var seconds = function (v) { return time(v * 1e9); };

// ---- tables that can be sorted ----
// columns: [{name, n (number), value(row), show(cell, row)}]
function table(to, caption, columns, rows) {
  var box = add(to, 'div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption }), t = add(box, 'table');
  var head = add(add(t, 'thead'), 'tr'), body = add(t, 'tbody'), by = -1, down = true;
  function fillRows() {
    clear(body);
    var sorted = rows.slice();
    if (by >= 0) sorted.sort(function (a, b) {
      var x = columns[by].value(a), y = columns[by].value(b);
      if (x === undefined || x === null) return 1;
      if (y === undefined || y === null) return -1;
      return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
    });
    sorted.forEach(function (row) {
      var tr = add(body, 'tr');
      columns.forEach(function (column) {
        var cell = add(tr, 'td', column.n ? { class: 'n', 'data-of': column.name } : { 'data-of': column.name });
        if (column.show) column.show(cell, row); else { var value = column.value(row); cell.textContent = value === undefined || value === null ? '' : String(value); }
      });
    });
  }
  columns.forEach(function (column, i) {
    var th = add(head, 'th', column.n ? { class: 'n', scope: 'col' } : { scope: 'col' });
    if (!column.value) { th.textContent = column.name; return; }
    th.setAttribute('aria-sort', 'none');
    var b = add(th, 'button', { type: 'button' }, column.name);
    b.addEventListener('click', function () {
      down = by === i ? !down : !!column.n; by = i;
      Array.prototype.forEach.call(head.children, function (other, j) { if (columns[j].value) other.setAttribute('aria-sort', j === by ? (down ? 'descending' : 'ascending') : 'none'); });
      fillRows();
    });
  });
  fillRows();
  return box;
}
// Rates that lie further apart than a bar can show, as those of a disk and of memory do, have
// bars by their logarithm: by length alone all but the largest would vanish. The least is a
// factor of 10 at least from where bars begin. Said below the table.
var APART = 50;
function barScale(values) {
  var all = values.filter(function (v) { return v > 0; }), most = Math.max.apply(null, all.concat(0)), least = Math.min.apply(null, all.concat(most));
  if (!most || most / least <= APART) return { share: function (v) { return v / (most || 1); }, lines: [], words: '' };
  var low = Math.pow(10, Math.floor(Math.log10(least)) - 1), share = function (v) { return v > 0 ? Math.log(v / low) / Math.log(most / low) : 0; }, lines = [];
  for (var at = low * 10; at < most * 0.999; at *= 10) lines.push(share(at));
  return { share: share, lines: lines, words: 'Bars are logarithmic, from ' + (low < 0.1 ? String(low) : rate(low)) + ' to ' + rate(most) + '; from line to line is a factor of 10.' };
}
function barCell(cell, value, scale, words) {
  cell.classList.add('bars');
  var svg = draw(cell, 'svg', { viewBox: '0 0 100 12', preserveAspectRatio: 'none', 'aria-hidden': 'true' });
  draw(svg, 'rect', { x: 0, y: 1, width: Math.max(scale.share(value) * 100, 0.5), height: 10, class: 'bar' });
  scale.lines.forEach(function (x) { draw(svg, 'line', { x1: x * 100, x2: x * 100, y1: 0, y2: 12, class: 'decade' }); });
  cell.appendChild(document.createTextNode(words));
}

// ---- now ----
var SEEN_MAX = 3600;
function pageNow() {
  var cursor = '', runs = {}, before = null, busy = null;
  add(page, 'h1', {}, 'Now');
  var host = add(page, 'p', { class: 'muted' }), list = add(page, 'div'), controls = add(page, 'section', { 'aria-label': 'Start a run' });
  function keep(run) {
    var known = runs[run.id] || { jobs: {}, warnings: [] };
    run.jobs.forEach(function (job) {
      var old = known.jobs[job.name] || [];
      known.jobs[job.name] = old.concat(job.intervals).slice(-SEEN_MAX);
    });
    return known;
  }
  var warned = {}, before_it = {};
  function show(now) {
    var next = {};
    now.runs.forEach(function (run) {
      next[run.id] = keep(run);
      var of = run.series || run.id;
      warned[of] = (warned[of] || []).concat(run.warnings);
    });
    runs = next;
    // What has the keyboard keeps it.
    var held = list.contains(document.activeElement) && document.activeElement.getAttribute('href');
    clear(list);
    setTimeout(function () { var again = held && Array.prototype.find.call(list.querySelectorAll('a'), function (a) { return a.getAttribute('href') === held; }); if (again) again.focus({ preventScroll: true }); });
    if (!now.runs.length) {
      add(list, 'p', {}, 'Nothing is running. A run that is started anywhere with this store - in a terminal, by cron, through the SQLIO drop-in - appears here while it is in progress.');
      return;
    }
    now.runs.forEach(function (run) {
      var of = run.series || run.id, jobs = runs[run.id].jobs;
      // Between two steps of a ladder the curves of the last one stay, so that nothing jumps.
      if (run.before) before_it[of] = ended(before_it[of], run.before);
      if (run.jobs.some(function (job) { return (jobs[job.name] || []).length; })) before_it[of] = { run: run.id, jobs: jobs };
      runNow(list, run, jobs, warned[of], before_it[of] && before_it[of].jobs);
    });
  }
  // What was seen of a run, with its end.
  function ended(seen, end) {
    var all = { run: end.run, jobs: {} };
    end.jobs.forEach(function (job) { all.jobs[job.name] = (seen && seen.run === end.run && seen.jobs[job.name] || []).concat(job.intervals).slice(-SEEN_MAX); });
    return all;
  }
  function step() {
    ask('/api/now?' + query({ cursor: cursor })).then(function (lines) {
      var now = lines[0];
      cursor = now.cursor;
      if (before) {
        var worked = now.host.cpu_busy_ns - before.cpu_busy_ns, idle = now.host.cpu_idle_ns - before.cpu_idle_ns;
        if (worked + idle > 0) busy = Math.round(worked / (worked + idle) * 100);
      }
      before = now.host;
      host.textContent = now.host.name + (busy === null ? '' : ': processors ' + busy + ' % busy') + ' \u00b7 ' + now.at.slice(0, 19).replace('T', ' ') + ' UTC';
      show(now);
      say('');
    }).catch(trouble).then(function () { setTimeout(step, document.hidden ? 5000 : 1000); });
  }
  step();
  startForm(controls);
}
function tile(list, value, name) { var li = add(list, 'li'); add(li, 'b', {}, value); add(li, 'span', {}, name); }
function runNow(to, run, jobs, warnings, before) {
  var section = add(to, 'section', { class: 'run' }), part = run.series_part ? run.series_part.replace(/-/g, ' ') : 'run';
  add(section, 'h2', {}, (run.label ? run.label + ': ' : '') + (run.jobs[0] ? run.jobs[0].target : '') + ', ' + part);
  var p = add(section, 'p', { class: 'muted' }, run.host + ' \u00b7 ' + run.id + (run.is_between ? ' \u00b7 between two runs' : '') + (run.is_alive === undefined ? ' \u00b7 whether its process is still running cannot be determined from here' : ''));
  if (run.series) { p.appendChild(document.createTextNode(' \u00b7 ')); add(p, 'a', { href: '/run/' + encodeURIComponent(run.series) }, 'all of it so far'); }
  run.jobs.forEach(function (job) {
    var seen = jobs[job.name] || [], last = seen[seen.length - 1];
    if (run.jobs.length > 1) add(section, 'h3', {}, job.name);
    add(section, 'p', {}, job.pattern + ', ' + mixOf(job) + ', block ' + bytes(job.block_size_bytes) + ', ' + job.threads + ' x ' + job.outstanding + ' outstanding');
    var tiles = add(section, 'ul', { class: 'tiles' });
    if (last) {
      tile(tiles, rate(last.iops), 'IOPS'); tile(tiles, rate(last.mib_per_s), 'MiB/s');
      KINDS.forEach(function (kind) { if (last[kind]) { tile(tiles, time(last[kind].latency_ns_p50), 'p50 ' + kind); tile(tiles, time(last[kind].latency_ns_p99), 'p99 ' + kind); if (last[kind].latency_ns_p999) tile(tiles, time(last[kind].latency_ns_p999), 'p99.9 ' + kind); } });
      tile(tiles, three(last.outstanding_mean), 'in flight');
      if (seen.some(function (i) { return i.errors; })) tile(tiles, grouped(seen.reduce(function (sum, i) { return sum + i.errors; }, 0)), 'failed');
    }
    if (!run.is_between) tile(tiles, time(run.left_ns), 'left of this run');
    if (run.left_of_all_ns !== undefined) tile(tiles, time(run.left_of_all_ns), 'left in total');
    var shown = seen.length ? seen : before && before[job.name] || [], of = seen.length ? '' : ', the run before';
    if (!shown.length) return;
    seen = shown; last = seen[seen.length - 1];
    var row = add(section, 'div', { class: 'row' }), middle = function (i) { return (i.start_ns + i.duration_ns / 2) / 1e9; };
    chart(row, { title: 'IOPS over time' + of, summary: (of ? 'At its end ' : 'Now ') + rate(last.iops) + ' IOPS.', lines: [{ points: seen.map(function (i) { return [middle(i), i.iops]; }), tone: 't0' }], x: seconds, y: rate, xName: 'since the start of measuring' });
    // Discards are another matter than transfers: they have a chart of their own.
    var apart = job.discard_percent > 0 && job.discard_percent < 100;
    [[['read', 'write'], 'Latency over time'], [['discard'], apart ? 'Latency of discards over time' : 'Latency over time']].forEach(function (which) {
      var lines = latencyLines(which[0], seen, middle);
      if (lines.length) chart(row, { title: which[1] + of, lines: lines, log: true, x: seconds, y: time, xName: 'since the start of measuring', limit: limitOf(run.latency_limit) });
    });
  });
  ladders(section, run);
  if (warnings && warnings.length) {
    add(section, 'h3', {}, 'Warnings so far');
    var ul = add(section, 'ul', { class: 'warnings' }), said = {};
    warnings.forEach(function (w) {
      if (said[w.code]) return;
      said[w.code] = true;
      var li = words(add(ul, 'li'), w.text + ' (' + w.code + ')');
      if (w.hint) words(add(li, 'span', { class: 'hint' }), w.hint);
    });
  }
}
// Percentiles of these kinds: shades of blue for the first, colours for the second.
function latencyLines(kinds, seen, middle) {
  var lines = [];
  kinds.forEach(function (kind, k) {
    [['latency_ns_p50', 'p50', 0], ['latency_ns_p99', 'p99', 1], ['latency_ns_p999', 'p99.9', 2]].forEach(function (q) {
      var points = seen.filter(function (i) { return i[kind] && i[kind][q[0]]; }).map(function (i) { return [middle(i), i[kind][q[0]]]; });
      if (points.length) lines.push({ name: q[1] + ' ' + kind + 's', points: points, tone: k ? 't' + (q[2] + 1) : 'p' + q[2] });
    });
  });
  return lines;
}
function ladders(to, run) {
  var parts = run.parts.filter(function (p) { return p.steps.length && p.name !== 'precondition'; });
  if (!parts.length) return;
  var row = add(to, 'div', { class: 'row' });
  var sorted = function (steps) { return steps.slice().sort(function (a, b) { return a.in_flight - b.in_flight; }); };
  var lines = function (of) { return parts.slice(0, 5).map(function (p, i) { return { name: p.name.replace(/-/g, ' '), tone: i < 4 ? 't' + i : 'p0', marks: true, points: sorted(p.steps).map(function (s) { return [s.in_flight, of(s) || 0]; }).filter(function (q) { return q[1] > 0; }) }; }); };
  var count = function (v) { return grouped(v); };
  chart(row, { title: 'The ladder so far: IOPS', lines: lines(function (s) { return s.iops; }), log: true, xLog: true, x: count, y: rate, xName: 'operations in flight' });
  chart(row, { title: 'The ladder so far: p99', lines: lines(function (s) { return s.latency_ns_p99; }), log: true, xLog: true, x: count, y: time, xName: 'operations in flight', limit: limitOf(run.latency_limit) });
}
function startForm(to) {
  var arrays = null;
  function show(here) {
    var last = here.last;
    var form = to.querySelector('form');
    if (!form) {
      add(to, 'h2', {}, 'Start');
      form = add(to, 'form');
      var what = field(form, 'What', 'select'), target = field(form, 'Target', 'select');
      [['bench', 'bench (reads only)'], ['run', 'run']].forEach(function (o) { add(what, 'option', { value: o[0] }, o[1]); });
      here.allowed.forEach(function (a) { add(target, 'option', { value: a.name }, a.name); });
      arrays.forEach(function (a) { add(target, 'option', { value: 'sim:' + a.name }, 'sim:' + a.name); });
      var block = field(form, 'Block size', 'input', { size: 8, placeholder: '8K', pattern: '\\s*[0-9]+(\\.[0-9]+)?\\s*([kKmMgG]([iI]?[bB])?|[bBsS])?\\s*', title: 'A size, such as 8K or 1M' }), label = field(form, 'Label', 'input', { size: 18, maxlength: 100 });
      var go = add(form, 'button', { class: 'do', type: 'submit' }, 'Start'), stop = add(form, 'button', { class: 'do', type: 'button', id: 'stop' }, 'Stop');
      form.addEventListener('submit', function (event) {
        event.preventDefault();
        go.disabled = true;
        var wish = { what: what.value, target: target.value };
        if (block.value) wish.block = block.value;
        if (label.value) wish.label = label.value;
        ask('/api/runs', wish)
          .then(function () { say('Started.'); }).catch(trouble).then(function () { go.disabled = false; look(); });
      });
      stop.addEventListener('click', function () { ask('/api/stop', {}).then(function () { say('Stopping; what was measured is kept.'); }).catch(trouble); });
      add(to, 'p', { id: 'started', class: 'muted' });
      if (!here.allowed.length) words(add(to, 'p', { class: 'muted' }), 'Runs on simulated arrays can be started here. For files and devices start `stripewise serve --allow-runs TARGET`; those runs only read.');
    }
    to.querySelector('#stop').disabled = !last || last.has_ended;
    to.querySelector('button[type=submit]').disabled = !!last && !last.has_ended;
    var said = !last ? '' : last.what + ' ' + last.target + (last.has_ended ? endWords(last.exit_code) : ' is in progress' + (last.title ? ': ' + last.title : '') + (last.left_ns ? ', about ' + time(last.left_ns) + ' left in total' : '')) + (last.notes.length ? '. ' + last.notes[last.notes.length - 1] : '');
    to.querySelector('#started').textContent = said;
  }
  function look() {
    return ask('/api/started').then(function (lines) { show(lines[0]); }).catch(function () {});
  }
  ask('/api/arrays').then(function (lines) { arrays = lines; return look(); }).then(function () { setInterval(look, 2000); }).catch(trouble);
}
// How a run ended; why it failed stands behind it.
function endWords(code) {
  if (code === 0 || code === 1) return ' has ended';
  if (code === 130 || code === 143) return ' was stopped; what was measured is kept';
  return code === undefined || code === null ? ' was ended by a signal' : ' failed';
}
function field(form, name, kind, attributes) { return add(add(form, 'label', {}, name), kind, attributes || {}); }

// ---- history ----
// Those of a bench; experiments and studies have parts of their own.
var LOADS = ['random-read', 'sequential-read', 'random-write', 'sequential-write', 'log'];
function pageHistory() {
  add(page, 'h1', {}, 'History');
  var form = add(page, 'form', { role: 'search' }), target = field(form, 'Target contains', 'input'), label = field(form, 'Label contains', 'input'), since = field(form, 'Since', 'input', { type: 'date' });
  add(form, 'button', { class: 'do', type: 'submit' }, 'Show');
  var compare = add(form, 'button', { class: 'do', type: 'button' }, 'Compare what is selected'), box = add(page, 'div'), below = add(page, 'div'), ticked = recalled('ticked'), chosen = null, measured = [];
  function tickedNow() { compare.disabled = ticked.length < 2 || ticked.length > 8; remember('ticked', ticked); }
  tickedNow();
  // Ids begin with the time: the oldest is what the others are held against.
  compare.addEventListener('click', function () { location.href = '/compare?' + ticked.slice().sort().map(function (id) { return 'id=' + encodeURIComponent(id); }).join('&'); });
  function load() {
    var of = query({ target: target.value, label: label.value, since: since.value, limit: 2000 });
    Promise.all([ask('/api/runs?' + of), ask('/api/measurements?' + of)]).then(function (both) { measured = both[1]; clear(box); list(both[0]); measurements(box, measured); say(''); }).catch(trouble);
    ask('/api/trends?' + query({ target: target.value })).then(function (lines) { clear(below); trends(below, lines[0]); }).catch(trouble);
  }
  function statusOf(g) { return g.tool || (g.status === 'complete' && g.verdict) || g.status; }
  function list(runs) {
    var groups = [], by = {};
    runs.forEach(function (run) {
      var id = run.series || run.id, g = by[id];
      if (!g) { g = by[id] = { id: id, runs: 0, warnings: 0, loads: {}, parts: {} }; groups.push(g); }
      g.runs++; g.warnings += run.warnings; g.label = run.label || g.label; g.started = run.started_at; g.host = run.host;
      g.status = g.status === 'running' ? g.status : run.status; g.tool = run.tool; g.verdict = run.verdict;
      run.jobs.forEach(function (job) {
        g.target = job.target;
        var load = (run.series_part === 'log' ? 'log ' : '') + loadWords(job) + ', ' + grouped(job.threads * job.outstanding) + ' in flight';
        (g.loads[load] = g.loads[load] || []).push(job);
        if (run.series_part) g.parts[run.series_part] = true;
      });
      var parts = Object.keys(g.parts).filter(function (name) { return name !== 'precondition'; });
      var isBench = parts.every(function (name) { return LOADS.indexOf(name) >= 0; });
      g.what = run.series ? (parts.length > 1 ? (isBench ? 'bench, ' + parts.length + ' loads' : parts.length + ' parts') : parts[0] ? parts[0].replace(/-/g, ' ') : 'runs') : (run.jobs[0] ? loadWords(run.jobs[0]) : '');
    });
    if (!groups.length) { add(box, 'p', {}, 'No stored run matches.'); return; }
    // One load for all rows: rates of different ones are no comparison.
    var count = {};
    groups.forEach(function (g) { Object.keys(g.loads).forEach(function (load) { count[load] = (count[load] || 0) + 1; }); });
    var loads = Object.keys(count).sort(function (a, b) { return count[b] - count[a] || (a < b ? -1 : 1); });
    if (!chosen || !count[chosen]) chosen = loads[0];
    var pick = field(add(box, 'form'), 'Load', 'select');
    loads.forEach(function (load) { add(pick, 'option', { value: load }, load + ' (' + count[load] + (count[load] === 1 ? ' row)' : ' rows)')); });
    pick.value = chosen;
    pick.addEventListener('change', function () { chosen = pick.value; clear(box); list(runs); measurements(box, measured); });
    groups.forEach(function (g) {
      var jobs = g.loads[chosen] || [], rates = jobs.map(function (job) { return job.iops; });
      g.iops = middleOf(rates);
      // Of a mix no value is that of both kinds.
      g.p99s = KINDS.map(function (kind) { return [kind + 's', middleOf(jobs.map(function (job) { return job[kind + '_latency_ns_p99']; }).filter(Boolean))]; }).filter(function (one) { return one[1]; });
    });
    var scale = barScale(groups.map(function (g) { return g.iops; }));
    table(box, 'Runs and benches', [
      { name: 'Compare', show: function (cell, g) {
        var tick = add(cell, 'input', { type: 'checkbox', 'aria-label': 'Compare ' + (g.label || g.id) });
        tick.checked = ticked.indexOf(g.id) >= 0;
        tick.addEventListener('change', function () { ticked = ticked.filter(function (id) { return id !== g.id; }); if (tick.checked) ticked.push(g.id); tickedNow(); });
      } },
      { name: 'Begun (UTC)', value: function (g) { return g.started; }, show: function (cell, g) { cell.className = 'short'; add(cell, 'a', { href: '/run/' + encodeURIComponent(g.id) }, moment(g.started).replace(' UTC', '') || g.id); } },
      { name: 'Label', value: function (g) { return g.label; } },
      { name: scale.words ? 'IOPS (log bars)' : 'IOPS', n: true, value: function (g) { return g.iops; }, show: function (cell, g) { if (g.iops !== undefined) barCell(cell, g.iops, scale, rate(g.iops)); } },
      { name: 'p99', n: true, value: function (g) { return (g.p99s || []).reduce(function (most, one) { return Math.max(most, one[1]); }, 0) || undefined; }, show: function (cell, g) {
        var all = g.p99s || [];
        cell.textContent = all.map(function (one) { return time(one[1]) + (all.length > 1 ? ' ' + one[0] : ''); }).join(', ');
      } },
      { name: 'Target', value: function (g) { return g.target; } },
      { name: 'What', value: function (g) { return g.what; } },
      { name: 'Runs', n: true, value: function (g) { return g.runs; } },
      { name: 'Warnings', n: true, value: function (g) { return g.warnings; } },
      { name: 'Host', value: function (g) { return g.host; } },
      { name: 'Status', value: statusOf }
    ].filter(function (column) {
      if (column.name === 'Host') return groups.some(function (g) { return g.host !== groups[0].host; });
      return column.name !== 'Status' || groups.some(function (g) { return statusOf(g) !== 'complete'; });
    }), groups);
    add(box, 'p', { class: 'muted' }, 'IOPS and p99 of ' + chosen + '; of several runs the median. ' + scale.words);
  }
  form.addEventListener('submit', function (event) { event.preventDefault(); load(); });
  load();
}
// The middle of some numbers; undefined of none.
function middleOf(all) {
  var sorted = all.slice().sort(function (a, b) { return a - b; }), half = Math.floor(sorted.length / 2);
  return sorted.length % 2 || !sorted.length ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}
// What this tab keeps from page to page, where the browser lets it.
function remember(name, all) { try { sessionStorage.setItem(name, JSON.stringify(all)); } catch (e) { /* nothing is kept */ } }
function recalled(name) { try { return JSON.parse(sessionStorage.getItem(name)) || []; } catch (e) { return []; } }
function loadWords(job) {
  return job.pattern + ' ' + kindOf(job) + ' ' + bytes(job.block_size_bytes);
}
// Profiles, fills and verifications: they have no runs.
function measurements(to, all) {
  if (!all.length) return;
  add(to, 'h2', {}, 'Profiles and verifications');
  table(to, 'Profiles and verifications', [
    { name: 'Begun (UTC)', value: function (m) { return m.started_at; }, show: function (cell, m) {
      cell.className = 'short';
      add(cell, 'a', { href: '/run/' + encodeURIComponent(m.id) }, moment(m.started_at).replace(' UTC', ''));
    } },
    { name: 'Kind', value: function (m) { return m.kind; } },
    { name: 'Target', value: function (m) { return m.target; } },
    { name: 'What', value: function (m) { return m.what; } },
    { name: 'Result', value: function (m) { return m.result; } },
    { name: 'Status', value: function (m) { return m.status; }, show: function (cell, m) { if (m.status) add(cell, 'span', { class: m.status === 'faults' ? 'bad' : m.status === 'passed' ? 'good' : '' }, m.status); } },
    { name: 'Host', value: function (m) { return m.host; } }
  ].filter(function (column) { return column.name !== 'Host' || all.some(function (m) { return m.host !== all[0].host; }); }), all);
}
function trends(to, all) {
  add(to, 'h2', {}, 'Trends');
  if (all.baselines.length) add(to, 'p', {}, 'Baselines: ' + all.baselines.map(function (b) { return b.name + ' (' + moment(b.set_at) + ')'; }).join(', ') + '.');
  if (!all.trends.length) { add(to, 'p', { class: 'muted' }, 'A load that was measured at least twice on a target has a trend.'); return; }
  var row = add(to, 'div', { class: 'row' }), hosts = all.trends.some(function (t) { return t.host !== all.trends[0].host; });
  all.trends.slice(0, 24).forEach(function (t) {
    var at = function (p, i) { return i; };
    var words = t.changes.map(function (c) { return 'At ' + moment(t.points[c.index].started_at) + ' the rate went from ' + rate(c.before) + ' to ' + rate(c.after) + ' IOPS (p ' + c.p_value.toPrecision(2) + ').'; }).join(' ');
    var figure = chart(row, {
      title: t.target + (hosts ? ' on ' + t.host : '') + ': ' + t.load, summary: words || 'No step was found.', height: 190,
      lines: [{ points: t.points.map(function (p, i) { return [at(p, i), p.iops]; }), names: t.points.map(function (p) { return (p.label ? p.label + ' ' : '') + moment(p.started_at); }), tone: 't0', marks: true }],
      x: function (v) { var p = t.points[Math.round(v)]; return p ? p.started_at.slice(5, 16).replace('T', ' ') : ''; }, y: rate, xName: 'IOPS, in order of time',
      xTicks: t.points.map(function (p, i) { return i; }), changes: t.changes.map(function (c) { return c.index - 0.5; })
    });
    add(figure, 'p', { class: 'muted' }, words || (t.points.length < 8 ? '' : 'No step was found.'));
  });
}

// ---- compare ----
function pageCompare() {
  add(page, 'h1', {}, 'Compare');
  var ids = new URLSearchParams(location.search).getAll('id');
  if (ids.length < 2) { var p = add(page, 'p', {}, 'Select two or more in the '); add(p, 'a', { href: '/history' }, 'history'); return; }
  var whole = '/reports?' + ids.map(function (id) { return 'id=' + encodeURIComponent(id); }).join('&');
  var links = add(page, 'p');
  add(links, 'a', { href: whole }, 'All of them in one report, with charts');
  if (ids.length === 2) { links.appendChild(document.createTextNode(' \u00b7 ')); add(links, 'a', { href: '/compare?' + ids.slice().reverse().map(function (id) { return 'id=' + encodeURIComponent(id); }).join('&') }, 'Swap the two'); }
  var form = add(page, 'form'), metric = field(form, 'Metric', 'select');
  [['', 'as usual'], ['iops', 'IOPS'], ['latency_p99', 'p99 latency'], ['latency_mean', 'mean latency'], ['mib_per_s', 'MiB/s']].forEach(function (m) { add(metric, 'option', { value: m[0] }, m[1]); });
  var box = add(page, 'div');
  function load() {
    clear(box);
    ids.slice(1).forEach(function (id) {
      var part = add(box, 'section');
      var heading = add(part, 'h2', {}, id + ' against ' + ids[0]);
      ask('/api/compare?' + query({ a: ids[0], b: id, metric: metric.value })).then(function (lines) {
        if (!lines[0].comparisons) { ownTable(part, lines[0]); return; }
        // What people call them says more than ids.
        var first = (lines[0].comparisons || [])[0];
        if (first && first.a.name !== first.b.name) heading.textContent = first.b.name + ' against ' + first.a.name;
        (lines[0].comparisons || []).forEach(function (c) { comparison(part, c); });
        if (!(lines[0].comparisons || []).length) add(part, 'p', {}, 'They have nothing in common that could be compared.');
      }).catch(function (error) { add(part, 'p', { class: 'bad' }, error.message); });
    });
  }
  metric.addEventListener('change', load);
  load();
}
// Some kinds of results have a table of their own: here that of two answers to one question.
function ownTable(to, d) {
  if (!d.question) { words(add(to, 'p'), 'Their table: `stripewise compare ' + d.a.id + ' ' + d.b.id + '`'); return; }
  var side = function (v) { return v ? v.text + (v.verdict ? ' (' + v.verdict + ')' : '') : '-'; };
  table(to, d.b.id + ' against ' + d.a.id, [
    { name: 'Measured', value: function (r) { return r.name; } },
    { name: d.a.id + ' on ' + d.a.target, value: function (r) { return side(r.a); } },
    { name: d.b.id + ' on ' + d.b.target, value: function (r) { return side(r.b); } }
  ], d.rows);
}
// What the interval is about, where there is one: the estimate, else the plain difference; of bounds the
// end that is known, which may be none.
function differenceOf(r) {
  if (r.bounds_percent) return r.bounds_percent[0] === null ? r.bounds_percent[1] : r.bounds_percent[0];
  return r.estimate_percent === undefined || r.estimate_percent === null ? r.difference_percent : r.estimate_percent;
}
var VERDICTS = { better: 'better', worse: 'worse', 'no-difference': 'no difference', undecided: 'undecided', mixed: 'mixed' };
function comparison(to, c) {
  (c.sentences || []).forEach(function (s) { add(to, 'p', {}, s); });
  (c.notes || []).forEach(function (s) { add(to, 'p', { class: 'muted' }, 'Note: ' + s); });
  // Answers of benches have metrics of their own, whatever was chosen for their steps.
  var show = function (r, v) {
    return /^latency/.test(r.metric) ? time(v) : r.metric === 'in_flight' ? rate(v) + ' in flight' : rate(v) + (r.metric === 'mib_per_s' ? ' MiB/s' : ' IOPS');
  };
  // An answer is not at a load that was given.
  var loaded = c.rows.some(function (r) { return r.threads && r.outstanding; });
  var widest = Math.max.apply(null, c.rows.map(function (r) { return Math.max.apply(null, [Math.abs(differenceOf(r))].concat(r.interval_percent ? r.interval_percent.map(Math.abs) : [])); }).concat([1]));
  table(to, c.b.name + ' against ' + c.a.name, [
    { name: 'Load', value: function (r) { return r.pattern + ' ' + r.operation + (r.block_size_bytes ? ' ' + bytes(r.block_size_bytes) : ''); } },
    { name: 'In flight', n: true, value: function (r) { return r.threads && r.outstanding ? r.threads * r.outstanding : ''; } },
    { name: c.a.name, n: true, value: function (r) { return r.a; }, show: function (cell, r) { cell.textContent = show(r, r.a); } },
    { name: c.b.name, n: true, value: function (r) { return r.b; }, show: function (cell, r) { cell.textContent = show(r, r.b); } },
    { name: 'Difference', n: true, value: differenceOf, show: function (cell, r) { deltaCell(cell, r, widest); } },
    { name: 'Verdict', value: function (r) { return VERDICTS[r.verdict] || r.verdict; }, show: function (cell, r) { add(cell, 'span', { class: r.verdict === 'better' ? 'good' : r.verdict === 'worse' ? 'bad' : 'muted' }, VERDICTS[r.verdict] || r.verdict); } }
  ].filter(function (column) { return loaded || column.name !== 'In flight'; }), c.rows);
}
// A bar ends at 100 %, which no loss of a rate exceeds; one that is cut there is broken before its end.
var DIFFERENCE_MAX = 100;
function deltaCell(cell, r, widest) {
  cell.classList.add('bars');
  if (differenceOf(r) === null) return;
  var svg = draw(cell, 'svg', { viewBox: '-50 0 100 12', preserveAspectRatio: 'none', 'aria-hidden': 'true' }), all = Math.min(widest, DIFFERENCE_MAX);
  var place = function (v) { return Math.max(-1, Math.min(1, v / all)) * 48; }, x = place(differenceOf(r)), tone = r.verdict === 'better' ? 'better' : r.verdict === 'worse' ? 'worse' : 'same';
  var piece = function (from, to) { draw(svg, 'rect', { x: Math.min(from, to), y: 2, width: Math.max(Math.abs(to - from), 0.5), height: 8, class: tone }); };
  if (Math.abs(differenceOf(r)) > all) { piece(0, x * 0.86); piece(x * 0.93, x); } else piece(0, x);
  draw(svg, 'line', { x1: 0, x2: 0, y1: 0, y2: 12, class: 'zero' });
  if (r.interval_percent) draw(svg, 'line', { x1: place(r.interval_percent[0]), x2: place(r.interval_percent[1]), y1: 6, y2: 6, class: 'zero' });
  var sign = function (v) { return Math.abs(v) < 0.05 ? '0.0' : (v < 0 ? '\u2212' : '+') + Math.abs(v).toFixed(1); };
  var end = r.bounds_percent ? (r.bounds_percent[0] === null ? '\u2264 ' : '\u2265 ') : '';
  cell.appendChild(document.createTextNode(end + sign(differenceOf(r)) + ' %' + (r.interval_percent ? ' (' + sign(r.interval_percent[0]) + ' to ' + sign(r.interval_percent[1]) + ')' : '')));
}

// ---- this machine ----
function pageMachine() {
  add(page, 'h1', {}, 'This machine');
  var box = add(page, 'div'), form = add(page, 'form'), b = add(form, 'button', { class: 'do', type: 'button' }, 'Check what this machine offers'), found = add(page, 'div');
  add(form, 'span', { class: 'muted' }, 'It takes some seconds: do not run it during a measurement.');
  b.addEventListener('click', function () {
    b.disabled = true; say('Checking...');
    ask('/api/doctor').then(function (lines) {
      clear(found); say('');
      table(found, 'What this machine offers', [
        { name: 'What', value: function (c) { return c.name; } },
        { name: 'Good', value: function (c) { return c.good ? 'yes' : 'no'; }, show: function (cell, c) { add(cell, 'span', { class: c.good ? 'good' : 'bad' }, c.good ? 'yes' : 'no'); } },
        { name: 'Found', value: function (c) { return c.found; } },
        { name: 'What to do', value: function (c) { return c.hint; }, show: function (cell, c) { words(cell, c.hint || ''); } }
      ], lines[0].checks);
    }).catch(trouble).then(function () { b.disabled = false; });
  });
  say('Looking...');
  ask('/api/disks').then(function (lines) {
    say('');
    var d = lines[0];
    var natural = new Intl.Collator('en', { numeric: true }).compare;
    d.disks.sort(function (a, b) { return natural(a.name, b.name); });
    d.volumes.sort(function (a, b) { return !!b.finding - !!a.finding || natural(a.name, b.name); });
    if (d.volumes.length) {
      add(box, 'h2', {}, 'Volumes');
      table(box, 'Volumes', [
        { name: 'Volume', value: function (v) { return v.name; } },
        { name: 'Mounted', value: function (v) { return (v.mount_points || []).join(', '); } },
        { name: 'File system', value: function (v) { return v.file_system; } },
        { name: 'Starts at', n: true, value: function (v) { return v.offset_bytes; }, show: function (cell, v) { cell.textContent = v.offset_bytes === null ? '' : grouped(v.offset_bytes) + ' bytes'; } },
        { name: 'Stripe unit', n: true, value: function (v) { return v.stripe_unit_bytes; }, show: function (cell, v) { cell.textContent = v.stripe_unit_bytes ? bytes(v.stripe_unit_bytes) : ''; } },
        { name: 'Allocation unit', n: true, value: function (v) { return v.allocation_unit_bytes; }, show: function (cell, v) { cell.textContent = v.allocation_unit_bytes ? bytes(v.allocation_unit_bytes) : ''; } },
        { name: 'Verdict', value: function (v) { return v.verdict; }, show: function (cell, v) { add(cell, 'span', { class: v.finding ? 'bad' : '' }, String(v.verdict).replace(/-/g, ' ') + (v.verdict_bytes ? ' ' + bytes(v.verdict_bytes) : '')); } }
      ], d.volumes);
      d.volumes.forEach(function (v) {
        var details = add(box, 'details');
        add(details, 'summary', {}, v.name + ': what was checked');
        var ul = add(details, 'ul');
        (v.checks || []).forEach(function (c) { add(ul, 'li', {}, c.text); });
      });
    }
    // An empty loop device is no disk to look at.
    var is_empty = function (disk) { return /^loop/.test(disk.name) && !disk.partitions.length && !d.volumes.some(function (v) { return v.name === disk.name || v.devices.indexOf(disk.name) >= 0; }); };
    add(box, 'h2', {}, 'Disks');
    d.disks.forEach(function (disk) { if (!is_empty(disk)) diskDrawing(box, disk, d.volumes); });
    var empty = d.disks.filter(is_empty).length;
    if (empty) add(box, 'p', { class: 'muted' }, empty + (empty === 1 ? ' loop device' : ' loop devices') + ' without partitions and volumes left out.');
    (d.notes || []).forEach(function (n) { add(box, 'p', { class: 'muted' }, typeof n === 'string' ? n : n.text); });
  }).catch(trouble);
}
function diskDrawing(to, disk, volumes) {
  var figure = add(to, 'figure');
  add(figure, 'figcaption', {}, disk.name + (disk.model ? ', ' + disk.model : '') + (disk.array ? ', ' + arrayWords(disk.array) : '') + ', ' + size(disk.size_bytes) + ', sectors ' + disk.logical_sector_bytes + '/' + (disk.physical_sector_bytes || '?') + (disk.rotational && !disk.array && !/^loop/.test(disk.name) ? (/^x?vd/.test(disk.name) ? ', virtual (reports that it spins)' : ', spins') : ''));
  var W = widthIn(to), starts = disk.partitions.map(function (p) { return p.name + ' from byte ' + grouped(p.start_bytes) + ' on'; });
  var svg = draw(figure, 'svg', { viewBox: '0 0 ' + W + ' 38', class: 'chart', role: 'img', 'aria-label': disk.name + ': ' + (starts.length ? starts.join(', ') : 'no partitions') });
  draw(svg, 'rect', { x: 0, y: 4, width: W, height: 30, class: 'pale' });
  if (!disk.partitions.length) draw(svg, 'text', { x: 6, y: 24 }, 'no partitions');
  disk.partitions.forEach(function (p, i) {
    var x = p.start_bytes / disk.size_bytes * W, w = Math.max(p.size_bytes / disk.size_bytes * W, 2);
    var r = draw(svg, 'rect', { x: x, y: 4, width: w, height: 30, class: partitionTone(i) });
    draw(r, 'title', {}, starts[i]);
    if (w > p.name.length * 8 + 10) draw(svg, 'text', { x: x + 5, y: 24, class: 'on' }, p.name);
  });
  if (starts.length) {
    var legend = add(figure, 'ul', { class: 'legend' });
    disk.partitions.forEach(function (p, i) {
      var item = add(legend, 'li'), key = draw(item, 'svg', { viewBox: '0 0 28 14', 'aria-hidden': 'true' });
      draw(key, 'rect', { x: 1, y: 1, width: 26, height: 12, class: partitionTone(i) });
      item.appendChild(document.createTextNode(starts[i] + ', ' + size(p.size_bytes)));
    });
  }
  var drawn = 0;
  volumes.forEach(function (v) {
    (v.boundaries || []).forEach(function (b) {
      // A volume in pieces does not go on behind its first one.
      if (drawn >= LAYOUTS_MAX || b.piece_bytes || (b.layer !== disk.name && !(b.layer === v.name && v.devices.indexOf(disk.name) >= 0))) return;
      drawn++;
      layoutDrawing(to, disk, v, b);
    });
  });
}
var LAYOUTS_MAX = 6;
function partitionTone(i) { return ['f0', 'f2', 'f3'][i % 3]; }
function arrayWords(a) { return a.level + ' of ' + a.disks + ' disks' + (a.stripe_unit_bytes ? ', stripe unit ' + bytes(a.stripe_unit_bytes) : ''); }
// The stripe units around the start of a volume, with the disks that each lies on.
function layoutDrawing(to, disk, v, b) {
  var place = unitPlaces(disk.array, b);
  var into = (b.offset_bytes - b.first_unit_bytes) % b.unit_bytes, name = v.name;
  var figure = add(to, 'figure', { class: 'layout' });
  add(figure, 'figcaption', {}, name + ' on ' + b.layer + ': starts ' + (into ? grouped(into) + ' bytes into a stripe unit of ' : 'on a boundary of stripe units of ') + bytes(b.unit_bytes));
  var blocks = (v.costs || []).filter(function (c) { return c.layer === b.layer && c.block_size_bytes <= b.unit_bytes; }).map(function (c) { return c.block_size_bytes; });
  stripes(figure, { unit: b.unit_bytes, first: b.first_unit_bytes, offset: b.offset_bytes, blocks: blocks.length ? blocks : [v.allocation_unit_bytes || b.unit_bytes], place: place, row: b.full_stripe_bytes ? Math.round(b.full_stripe_bytes / b.unit_bytes) : 0, start: name });
}
// On which disk a stripe unit lies, and what keeps it when that fails: as Linux's md lays
// arrays out, and in turn where nothing else is known.
function unitPlaces(array, b) {
  var row = b.full_stripe_bytes ? Math.round(b.full_stripe_bytes / b.unit_bytes) : 0;
  var plain = function (k) { return row ? ['disk ' + (k % row + 1)] : ['']; };
  if (!array || !array.disks) return plain;
  var n = array.disks, names = [], layout = array.layout || 0;
  (array.members || []).forEach(function (m) { if (typeof m.slot === 'number') names[m.slot] = m.device; });
  var named = function (d) { return names[d] || 'disk ' + (d + 1); };
  if (array.level === 'raid0') return function (k) { return [named(k % n)]; };
  if (array.level === 'raid10') {
    var near = layout & 255 || 1, far = layout >> 8 & 255 || 1;
    return function (k) {
      var first = k * near % n, copies = [];
      for (var i = 1; i < near; i++) copies.push(named((first + i) % n));
      for (var j = 1; j < far; j++) copies.push(named((first + j * near) % n));
      return [named(first), copies.length ? 'copy ' + copies.join(', ') : ''];
    };
  }
  var parities = { raid4: 1, raid5: 1, raid6: 2 }[array.level];
  if (!parities || n <= parities || layout > 5 || (array.level === 'raid6' && layout > 3)) return plain;
  return function (k) {
    var data = n - parities, stripe = Math.floor(k / data), d = k % data, p;
    if (array.level === 'raid4' || layout === 5) p = data;
    else if (layout === 4) { p = 0; d += parities; }
    else {
      // Left: parity moves towards the first disk; symmetric: data goes on behind it.
      p = layout % 2 ? stripe % n : n - 1 - stripe % n;
      if (layout >= 2) d = (p + parities + d) % n;
      else if (parities === 2 && p === n - 1) d += 1;
      else if (d >= p) d += parities;
    }
    var q = (p + 1) % n;
    return [named(d), parities === 2 ? 'P ' + named(p) + ', Q ' + named(q) : 'parity ' + named(p)];
  };
}

// ---- try ----
// Blocks at multiples of their size from the start of a partition, over stripe units of disks.
// options: unit, first (byte at which a unit begins), offset, blocks [bytes...], place(unit)
// -> [disk, what keeps it], row (units until the disks begin again), start (whose start it is)
function stripes(to, o) {
  var W = widthIn(to), units = W < 500 ? 4 : 8, first = o.first || 0, from = Math.floor((o.offset - first) / o.unit) * o.unit + first, scale = W / (o.unit * units), said = [];
  var second = (o.place(0)[1] || '') !== '', tall = second ? 40 : 26, head = o.start ? 20 : 4, rows = o.blocks.map(function (block, i) { return { block: block, y: head + tall + 6 + i * 42, of: 0, split: 0 }; });
  var end = head + tall + 6 + rows.length * 42;
  var svg = draw(add(to, 'figure'), 'svg', { viewBox: '0 0 ' + W + ' ' + end, class: 'chart', role: 'img' });
  for (var u = 0; u < units; u++) {
    var k = Math.round((from - first) / o.unit) + u, on = o.place(k), x = u * o.unit * scale, wide = o.unit * scale - 8;
    draw(draw(svg, 'rect', { x: x, y: head, width: o.unit * scale, height: tall, class: 'pale' }), 'title', {}, on.filter(Boolean).join(', '));
    if (o.row && k % o.row === 0) draw(svg, 'line', { x1: Math.max(x, 1), x2: Math.max(x, 1), y1: head, y2: head + tall, class: 'row-start' });
    on.forEach(function (words, i) { if (words && words.length * 6.6 <= wide) draw(svg, 'text', { x: x + 5, y: head + 17 + i * 15 }, words); });
    said.push(on.filter(Boolean).join(', '));
  }
  rows.forEach(function (row) {
    for (var at = o.offset; at + row.block <= from + o.unit * units && row.of < 400; at += row.block, row.of++) {
      var split = Math.floor((at - first) / o.unit) !== Math.floor((at + row.block - 1 - first) / o.unit) && row.block <= o.unit;
      if (split) row.split++;
      draw(svg, 'rect', { x: (at - from) * scale + 0.5, y: row.y, width: Math.max(row.block * scale - 1, 0.5), height: 22, class: split ? 'f1' : 'f2' });
    }
    row.words = 'Blocks of ' + bytes(row.block) + ': ' + (row.block > o.unit ? 'each is larger than a stripe unit' : row.split ? row.split + ' of these ' + row.of + ' on two disks (orange)' : 'none of these ' + row.of + ' on two disks');
    draw(svg, 'text', { x: 0, y: row.y + 36 }, row.words);
  });
  if (o.start) {
    var begins = Math.max((o.offset - from) * scale, 1), words = o.start + ' starts at byte ' + grouped(o.offset), long = words.length * 6.8;
    // Not through the words between.
    [[4, head], [head + tall, head + tall + 28]].forEach(function (part) { draw(svg, 'line', { x1: begins, x2: begins, y1: part[0], y2: part[1], class: 'start' }); });
    draw(svg, 'text', begins + long + 8 < W ? { x: begins + 5, y: 14 } : { x: begins - 5, y: 14, 'text-anchor': 'end' }, words);
  }
  svg.setAttribute('aria-label', (o.start ? o.start + ' from byte ' + grouped(o.offset) + ' on. ' : '') + 'Stripe units of ' + bytes(o.unit) + (said[0] ? ', in turn on ' + said.join('; ') : '') + '. ' + rows.map(function (row) { return row.words; }).join('. ') + '.');
  return svg;
}
var OFFSETS = ['0', '63s', '64K', '128K', '256K', '1M'], UNITS = ['16K', '32K', '64K', '128K', '256K'], BLOCKS = ['4K', '8K', '16K', '32K', '64K', '128K', '256K'];
function inBytes(text) { var m = /^(\d+)([sKM]?)$/.exec(text); return m ? m[1] * { '': 1, s: 512, K: 1024, M: 1048576 }[m[2]] : 0; }
// Simulated arrays lie as Linux's md lays them out: pairs of a mirror, left-symmetric parity.
function triedArray(option, disks) {
  var level = option && option.getAttribute('data-level');
  var known = { 'RAID 10': ['raid10', 258, disks / 2], 'RAID 5': ['raid5', 2, disks - 1], 'RAID 6': ['raid6', 2, disks - 2] }[level] || ['raid0', 0, disks];
  return { level: known[0], layout: known[1], disks: disks, data: Math.max(Math.floor(known[2]), 1) };
}
function pageTry() {
  add(page, 'h1', {}, 'Try a layout');
  add(page, 'p', {}, 'A simulated array answers at once: move the start of the partition, the stripe unit, the block size, and see what they cost.');
  var form = add(page, 'form'), array = field(form, 'Array', 'select'), sliders = {};
  function slider(name, key, values, at) {
    var label = add(form, 'label', {}, name), shown = add(label, 'span', {}, values[at]), input = add(label, 'input', { type: 'range', min: 0, max: values.length - 1, step: 1, value: at, 'aria-valuetext': values[at], name: key });
    input.addEventListener('input', function () { shown.textContent = values[input.value]; input.setAttribute('aria-valuetext', values[input.value]); soon(); });
    sliders[key] = function () { return values[input.value]; };
  }
  slider('Partition starts at', 'offset', OFFSETS, 1); slider('Stripe unit', 'unit', UNITS, 2); slider('Block size', 'block', BLOCKS, 4); slider('Disks', 'disks', ['2', '4', '6', '8', '12', '16'], 1);
  var reads = field(form, 'Operations', 'select');
  add(reads, 'option', { value: '100' }, 'random reads'); add(reads, 'option', { value: '0' }, 'random writes');
  var drawing = add(page, 'div'), words = add(page, 'p'), row = add(page, 'div', { class: 'row' }), timer = null, turn = 0;
  function soon() { clearTimeout(timer); timer = setTimeout(load, 150); picture(); }
  function picture() { clear(drawing); var of = triedArray(array.selectedOptions[0], parseInt(sliders.disks(), 10)), unit = inBytes(sliders.unit()); stripes(drawing, { unit: unit, offset: inBytes(sliders.offset()), blocks: [inBytes(sliders.block())], place: unitPlaces(of, { unit_bytes: unit, full_stripe_bytes: of.data * unit }), row: of.data }); }
  function wish(offset) {
    var of = array.selectedOptions[0], striped = of && of.getAttribute('data-disks') !== '1';
    return '/api/try?' + query({ array: array.value, offset: offset, stripe_unit: striped ? sliders.unit() : '', disks: striped ? sliders.disks() : '', block: sliders.block(), reads: reads.value });
  }
  function load() {
    var mine = ++turn;
    Promise.all([ask(wish(sliders.offset())), ask(wish('1M'))]).then(function (both) {
      if (mine !== turn) return;
      var here = both[0][0], aligned = both[1][0], last = here.points.length - 1;
      clear(row); say('');
      var share = here.crossing === undefined ? '' : (here.crossing * 100).toFixed(1).replace(/\.0$/, '') + ' % of blocks lie on more disks than necessary. ';
      var gain = (here.points[last].iops / aligned.points[last].iops - 1) * 100;
      words.textContent = share + 'With ' + here.points[last].in_flight + ' in flight it gives ' + rate(here.points[last].iops) + ' IOPS, ' + (Math.abs(gain) < 0.5 ? 'the same as from 1 MiB on.' : Math.abs(gain).toFixed(1) + ' % ' + (gain < 0 ? 'lower' : 'higher') + ' than from 1 MiB on.');
      var lines = function (of) { return [{ name: 'from ' + sliders.offset(), tone: 't1', marks: true, points: here.points.map(function (p) { return [p.in_flight, of(p)]; }) }, { name: 'from 1M', tone: 't0', marks: true, points: aligned.points.map(function (p) { return [p.in_flight, of(p)]; }) }].slice(sliders.offset() === '1M' ? 1 : 0); };
      var count = function (v) { return grouped(v); };
      chart(row, { title: 'IOPS', summary: words.textContent, lines: lines(function (p) { return p.iops; }), xLog: true, x: count, y: rate, xName: 'operations in flight' });
      chart(row, { title: 'p99 latency', lines: lines(function (p) { return p.latency_ns_p99; }), log: true, xLog: true, x: count, y: time, xName: 'operations in flight' });
    }).catch(function (error) { if (mine === turn) { clear(row); trouble(error); } });
  }
  ask('/api/arrays').then(function (all) {
    all.forEach(function (a) { add(array, 'option', { value: a.name, 'data-disks': a.disks, 'data-level': a.level }, a.name + ' (' + a.level + ', ' + a.disks + (a.disks === 1 ? ' disk)' : ' disks)')); });
    array.value = 'raid10-10k';
    [array, reads].forEach(function (e) { e.addEventListener('change', soon); });
    soon();
  }).catch(trouble);
}

var pages = { '/': [pageNow, 'Now'], '/history': [pageHistory, 'History'], '/compare': [pageCompare, 'Compare'], '/machine': [pageMachine, 'This machine'], '/try': [pageTry, 'Try'] };
var here = pages[location.pathname] || pages['/'];
document.title = here[1] + ' - Stripewise';
Array.prototype.forEach.call(document.querySelectorAll('nav a'), function (a) { if (a.getAttribute('href') === location.pathname) a.setAttribute('aria-current', 'page'); });
clear(page);
here[0]();
})();
