// Draws the charts of the page with Apache ECharts. The charts come as data, the
// same that the pictures were drawn from; nothing here looks at records. Text is
// only ever put in as text, never as HTML.
(function () {
'use strict';
var data = JSON.parse(document.getElementById('chart-data').textContent);
var dark = window.matchMedia('(prefers-color-scheme: dark)');

// ---- numbers, written as the program writes them ----
function count(n) { return String(Math.round(Math.max(n, 0))).replace(/\B(?=(\d{3})+$)/g, ','); }
function rate(n) { return n < 99.95 ? n.toFixed(1) : count(n); }
function scaled(ns, unit, limit) {
  if (ns % unit === 0) return String(ns / unit);
  var steps = [[10, 2], [100, 1], [1000, 0]];
  for (var i = 0; i < 3; i++) {
    var ten = Math.pow(10, steps[i][1]), n = Math.floor((2 * ns * ten + unit) / (2 * unit));
    if (n < Math.min(limit, steps[i][0]) * ten) return (n / ten).toFixed(steps[i][1]);
  }
  return null;
}
function duration(value) {
  var ns = Math.round(Math.max(value, 0));
  var units = [['ns', 1, 1e3], ['µs', 1e3, 1e6], ['ms', 1e6, 1e9], ['s', 1e9, 6e10]];
  for (var i = 0; i < units.length; i++) {
    if (ns < units[i][2]) {
      var text = scaled(ns, units[i][1], units[i][2] / units[i][1]);
      if (text !== null) return text + ' ' + units[i][0];
    }
  }
  var parts = [['m', 's', 1e9, 60, 60], ['h', 'm', 6e10, 60, 24], ['d', 'h', 3.6e12, 24, Infinity]];
  for (i = 0; i < parts.length; i++) {
    var n = Math.round(ns / parts[i][2]), whole = Math.floor(n / parts[i][3]), rest = n % parts[i][3];
    if (whole < parts[i][4]) return whole + ' ' + parts[i][0] + (rest ? ' ' + rest + ' ' + parts[i][1] : '');
  }
  return '';
}
function shortened(text) { return text.indexOf('.') < 0 ? text : text.replace(/0+$/, '').replace(/\.$/, ''); }
function signed(n, digits) {
  var text = Math.abs(n).toFixed(digits);
  return (/^[0.]*$/.test(text) ? '' : n < 0 ? '\u2212' : '+') + text;
}
function percentile(place) {
  return shortened((100 - 100 * Math.pow(10, -place)).toFixed(Math.min(Math.max(Math.floor(place + 1e-9), 1), 8))) + ' %';
}
function bytes(n) {
  var letters = ['', 'K', 'M', 'G', 'T'], i = 0;
  while (i < 4 && n >= 1024) { n /= 1024; i++; }
  return shortened(n.toFixed(3)) + letters[i];
}
var DAY = 86400;
function moment(seconds) { return new Date(Math.round(seconds) * 1000).toISOString().slice(0, 16).replace('T', ' '); }
var UNITS = { 'iops': 'IOPS', 'mib-per-second': 'MiB/s', 'difference': '%', 'share': '%' };
function format(quantity, value) {
  switch (quantity) {
    case 'iops': case 'mib-per-second': return rate(value);
    case 'latency': case 'time': return duration(value);
    case 'count': return count(value);
    case 'difference': return signed(value, 2);
    case 'share': return shortened(value.toFixed(2));
    case 'percentile': return percentile(value);
    case 'bytes': return bytes(value);
    case 'date': return moment(value);
    default: return String(value);
  }
}
function withUnit(quantity, value) {
  var unit = UNITS[quantity];
  return format(quantity, value) + (unit ? ' ' + unit : '');
}
function tick(quantity, value) {
  switch (quantity) {
    case 'iops': case 'mib-per-second':
      return value >= 1 && value % 1 === 0 ? count(value) : shortened(value.toFixed(3));
    case 'latency': case 'time':
      return value === 0 ? '0' : duration(value).replace(/^[\d.]+/, shortened);
    case 'difference': return shortened(signed(value, 2)) + ' %';
    case 'share': return format(quantity, value) + ' %';
    case 'date': return value % DAY === 0 ? moment(value).slice(0, 10) : moment(value).slice(5);
    default: return format(quantity, value);
  }
}
function title(axis) {
  var unit = UNITS[axis.quantity];
  return !unit || axis.title.indexOf(unit) >= 0 ? axis.title : axis.title + ' (' + unit + ')';
}
function names(axis) { return axis.scale && axis.scale.names ? axis.scale.names : null; }
function at(axis, value) {
  var all = names(axis);
  return all ? all[Math.round(value)] : withUnit(axis.quantity, value);
}

// ---- colours ----
function colours() {
  return dark.matches
    ? { tones: data.dark, ink: '#e8eaed', muted: '#a7b0b9', grid: '#2b3136', ground: '#14171a', raised: '#1c2125', rule: '#4a525a', shade: 'rgba(167,176,185,0.16)' }
    : { tones: data.light, ink: '#1f2328', muted: '#575f68', grid: '#e4e7ea', ground: '#ffffff', raised: '#ffffff', rule: '#9aa2ab', shade: 'rgba(87,95,104,0.10)' };
}
var SHADES = [[0xef, 0xf4, 0xfa], [0xbd, 0xd7, 0xe7], [0x6b, 0xae, 0xd6], [0x31, 0x82, 0xbd], [0x08, 0x45, 0x94]];
var SHADES_DARK = [[0x1d, 0x26, 0x30], [0x1b, 0x44, 0x6b], [0x24, 0x70, 0xa8], [0x5c, 0xb3, 0xec], [0xe8, 0xf4, 0xff]];
function shade(share) {
  var stops = dark.matches ? SHADES_DARK : SHADES, place = Math.min(Math.max(share, 0), 1) * 4;
  var i = Math.min(Math.floor(place), 3), part = place - i;
  return 'rgb(' + [0, 1, 2].map(function (k) {
    return Math.round(stops[i][k] + (stops[i + 1][k] - stops[i][k]) * part);
  }).join(',') + ')';
}
// Eight outlines in a box of 10, as in the pictures: each of eight series has its own.
var OUTLINES = ['M1 5a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z', 'M1 1h8v8h-8z', 'M5 1l4.5 8h-9z', 'M5 0.3l4.7 4.7l-4.7 4.7l-4.7 -4.7z', 'M5 9.5l-4.5 -8h9z',
  'M1 5a4 4 0 1 0 8 0a4 4 0 1 0 -8 0zM3 5a2 2 0 1 1 4 0a2 2 0 1 1 -4 0z', 'M3.5 0.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z', 'M0.3 5l2.4 -4h4.6l2.4 4l-2.4 4h-4.6z'];

// ---- from a chart to ECharts' options ----
// An axis of powers ends close to its values, not at whole decades.
function tight(common, values) {
  var seen = values.filter(function (v) { return v > 0; });
  if (!seen.length) return;
  var low = seen.reduce(function (a, b) { return Math.min(a, b); }), high = seen.reduce(function (a, b) { return Math.max(a, b); }), room = high / low < 2 ? 1.5 : 1.2;
  var from = low / room, to = high * room, few = Math.log10(to / from) <= 3, ticks = [];
  for (var power = Math.floor(Math.log10(from)); power <= Math.ceil(Math.log10(to)); power++)
    (few ? [1, 2, 5] : [1]).forEach(function (factor) { var v = factor * Math.pow(10, power); if (v >= from && v <= to) ticks.push(v); });
  common.min = from; common.max = to;
  if (ticks.length) common.axisLabel.customValues = common.axisTick.customValues = ticks;
}
// Minutes, hours, days, weeks and what is near months and years, as in chart/ticks.rs.
var DATES = [1 / 60, 1 / 12, 0.25, 1, 3, 6, 12, 24, 48, 168, 336, 720, 2184, 4368, 8760, 35064];
function dates(common, values) {
  var seen = values.filter(isFinite);
  if (!seen.length) return;
  var low = Math.min.apply(null, seen), high = Math.max.apply(null, seen), span = Math.max(high - low, 300), places = [], middle = (low + high) / 2;
  low = middle - span / 2; high = middle + span / 2;
  var hours = DATES.find(function (h) { return h * 3600 >= span / 6; }), step = hours ? Math.round(hours * 3600) : span / 6;
  common.min = low - 0.03 * span; common.max = high + 0.03 * span;
  for (var at = Math.ceil(common.min / step) * step; at <= common.max; at += step) places.push(at);
  if (places.length) common.axisLabel.customValues = common.axisTick.customValues = places;
}
function valuesOf(panel, zoom, chart) {
  var all = [];
  panel.series.forEach(function (s) { seen(chart, s, zoom).forEach(function (p) {
    all.push(p.y);
    // Of a cell the first end is on the other axis.
    if (p.span) { if (!s.form.cells) all.push(p.span[0]); all.push(p.span[1]); }
  }); });
  if (isWhole(zoom)) panel.annotations.forEach(function (a) { if (a.kind === 'at-y' || a.kind === 'bound') all.push(a.y); });
  return all;
}
function axisOf(axis, log, ink, isX, values) {
  var all = names(axis), common = {
    axisLabel: { color: ink.muted, hideOverlap: true, formatter: function (v) { return tick(axis.quantity, v); } },
    axisLine: { show: isX, onZero: false, lineStyle: { color: ink.rule } },
    axisTick: { show: isX, lineStyle: { color: ink.rule } },
    splitLine: { show: !isX, lineStyle: { color: ink.grid } },
    minorSplitLine: { show: false }
  };
  if (all) {
    var places = all.map(function (_, i) { return i; });
    common.type = 'value'; common.min = -0.5; common.max = all.length - 0.5;
    common.axisLabel.customValues = places; common.axisTick.customValues = places;
    common.axisLabel.formatter = function (v) { return all[Math.round(v)] || ''; };
    common.splitLine.show = false;
    return common;
  }
  switch (log === null ? axis.scale : log ? 'log10' : 'from-zero') {
    case 'log2': common.type = 'log'; common.logBase = 2; break;
    case 'log10': common.type = 'log'; common.logBase = 10; if (values) tight(common, values); break;
    case 'nines':
      common.type = 'value'; common.min = 0; common.max = 'dataMax';
      common.axisLabel.customValues = common.axisTick.customValues = [0, 0.30103, 1, 2, 3, 4, 5, 6, 7, 8, 9];
      break;
    case 'linear': common.type = 'value'; common.scale = true; if (isX) { common.min = 'dataMin'; common.max = 'dataMax'; }
      if (axis.quantity === 'date' && values) dates(common, values);
      break;
    default: common.type = 'value';
      if (axis.quantity === 'time') common.max = 'dataMax';
  }
  if (isX && axis.quantity === 'count' && axis.scale === 'linear') common.minInterval = 1;
  return common;
}
function darkest(s) { return s.darkest || s.points.reduce(function (most, p) { return Math.max(most, p.value || 0); }, 0); }
function edges(x, form) {
  var width = 0.76 / form.slots, left = x - 0.38 + width * form.slot;
  return [left, left + width];
}
function whiskers(points, placeOf, colour) {
  return function (params, api) {
    var p = points[params.dataIndex];
    if (!p || !p.span) return null;
    var low = api.coord([placeOf(p), p.span[0]]), high = api.coord([placeOf(p), p.span[1]]), x = low[0];
    return { type: 'path', silent: true, shape: { pathData: 'M' + x + ' ' + low[1] + 'L' + x + ' ' + high[1] +
      'M' + (x - 4) + ' ' + low[1] + 'h8M' + (x - 4) + ' ' + high[1] + 'h8' }, style: { stroke: colour, lineWidth: 1.5, fill: 'none' } };
  };
}
// A line is broken where a point does not follow from the one before it.
function withHoles(points) {
  return points.reduce(function (all, p) { return all.concat(p.apart ? [{ x: p.x, hole: true }, p] : [p]); }, []);
}
function seriesOf(chart, panel, number, index, ink, zoom) {
  var out = [], place = { xAxisIndex: index, yAxisIndex: index };
  function add(item) { item.xAxisIndex = index; item.yAxisIndex = index; item.animation = false; out.push(item); }
  panel.series.forEach(function (s, k) {
    var colour = ink.tones[s.tone % ink.tones.length], form = s.form, id = number + '-' + k, points = seen(chart, s, zoom);
    if (form === 'line' || form === 'trace' || form === 'steps') {
      add({
        id: 'v' + id, name: s.name, type: 'line', data: withHoles(points).map(function (p) { return [p.x, p.hole ? null : p.y]; }),
        showSymbol: form === 'line' || points.length < 2, symbol: 'path://' + OUTLINES[s.tone % 8], symbolSize: 7, step: form === 'steps' ? 'end' : false,
        lineStyle: { width: form === 'trace' ? 1.5 : 2, color: colour }, itemStyle: { color: colour }, emphasis: { disabled: true }
      });
      if (points.some(function (p) { return p.span; })) {
        add({ id: 'w' + id, name: s.name, type: 'custom', silent: true, tooltip: { show: false }, z: 3,
          data: points.map(function (p) { return [p.x, p.y, p.span ? p.span[0] : p.y, p.span ? p.span[1] : p.y]; }),
          encode: { x: 0, y: [1, 2, 3] }, renderItem: whiskers(points, function (p) { return p.x; }, colour) });
      }
    } else if (form === 'intervals') {
      add({
        id: 'v' + id, name: s.name, type: 'custom', itemStyle: { color: colour }, clip: true,
        data: s.points.map(function (p) { return [p.x, p.y, p.span ? p.span[0] : p.x, p.span ? p.span[1] : p.x]; }),
        encode: { x: [0, 2, 3], y: 1 },
        renderItem: function (params, api) {
          var p = s.points[params.dataIndex], c = api.coord([p.x, p.y]), style = { stroke: colour, fill: 'none', lineWidth: 1.5, opacity: p.pale ? 0.5 : 1 };
          var children = [{ type: 'circle', shape: { cx: c[0], cy: c[1], r: 4.5 }, style: { fill: colour, opacity: p.pale ? 0.5 : 1 } }];
          if (p.span) {
            var a = api.coord([p.span[0], p.y]), b = api.coord([p.span[1], p.y]);
            children.unshift({ type: 'path', shape: { pathData: 'M' + a[0] + ' ' + a[1] + 'H' + b[0] + 'M' + a[0] + ' ' + (a[1] - 4) + 'v8M' + b[0] + ' ' + (a[1] - 4) + 'v8' }, style: style });
          }
          return { type: 'group', children: children };
        }
      });
    } else if (form.bars) {
      add({
        id: 'v' + id, name: s.name, type: 'custom', itemStyle: { color: colour }, clip: true,
        data: s.points.map(function (p) { return [p.x, p.y, p.span ? p.span[0] : p.y, p.span ? p.span[1] : p.y, 0]; }),
        encode: { x: 0, y: [1, 2, 3, 4] },
        renderItem: function (params, api) {
          var p = s.points[params.dataIndex], e = edges(p.x, form.bars);
          var a = api.coord([e[0], p.y]), b = api.coord([e[1], 0]), gap = Math.min((b[0] - a[0]) * 0.08, 2);
          var bar = { type: 'rect', shape: { x: a[0] + gap, y: Math.min(a[1], b[1]), width: Math.max(b[0] - a[0] - 2 * gap, 1), height: Math.abs(b[1] - a[1]) },
            style: { fill: colour, opacity: p.pale ? 0.45 : 1 } };
          var line = whiskers(s.points, function (q) { var f = edges(q.x, form.bars); return (f[0] + f[1]) / 2; }, ink.ink)(params, api);
          return { type: 'group', children: line ? [bar, line] : [bar] };
        }
      });
    } else {
      var cells = form.cells, largest = darkest(s);
      add({
        id: 'v' + id, name: s.name, type: 'custom', itemStyle: { color: colour }, clip: true,
        data: s.points.map(function (p) { return p.span ? [p.x, p.y, p.span[0], p.span[1]] : [p.x - 0.5, p.y - 0.5, p.x + 0.5, p.y + 0.5]; }),
        encode: { x: [0, 2], y: [1, 3] },
        renderItem: function (params, api) {
          var p = s.points[params.dataIndex];
          var a = api.coord([api.value(0), api.value(1)]), b = api.coord([api.value(2), api.value(3)]), gap = cells.labelled ? 1 : 0;
          var share = largest > 0 ? p.value / largest : 0;
          if (!cells.labelled) share = Math.cbrt(share);
          var box = { x: a[0] + gap, y: b[1] + gap, width: Math.max(b[0] - a[0] - 2 * gap, 0.5), height: Math.max(a[1] - b[1] - 2 * gap, 0.5) };
          var rect = { type: 'rect', shape: box, style: { fill: shade(share) } };
          if (!cells.labelled || box.width < 46 || box.height < 15) return rect;
          var light = dark.matches ? share < 0.6 : share > 0.6;
          return { type: 'group', children: [rect, { type: 'text', silent: true, style: {
            text: format(s.value, p.value), x: box.x + box.width / 2, y: box.y + box.height / 2, align: 'center', verticalAlign: 'middle',
            fill: light ? '#ffffff' : '#14171a', fontSize: 12 } }] };
        }
      });
    }
  });
  var marked = annotations(chart, panel, ink, zoom);
  if (marked) add(marked);
  return out;
}
function annotations(chart, panel, ink, zoom) {
  if (!panel.annotations.length) return null;
  var lines = [], areas = [], points = [], held = [], row = 0;
  function label(text, more) {
    return Object.assign({ show: true, formatter: function () { return text; }, color: ink.ink, fontSize: 12,
      backgroundColor: ink.ground, padding: [1, 3] }, more);
  }
  panel.annotations.forEach(function (a) {
    if (a.kind === 'at-x') {
      lines.push({ xAxis: a.x, label: label(a.label, { position: 'insideEndTop', rotate: 0, distance: [4, -16 - 15 * (row++ % 6)], align: 'left' }) });
    } else if (a.kind === 'at-y') {
      var tone = a.tone === undefined ? ink.ink : ink.tones[a.tone % ink.tones.length];
      lines.push({ yAxis: a.y, label: label(a.label, { position: limitPlace(panel, a.y), color: tone }), lineStyle: { color: tone } });
      var x = panel.series.length && panel.series[0].points.length ? panel.series[0].points[0].x : 0;
      held.push([x, a.y]);
    } else if (a.kind === 'bound') {
      lines.push([{ coord: [a.x - 0.1, a.y], label: label(a.label, { position: 'start', distance: 4 }), lineStyle: { color: ink.ink, type: 'solid', width: 3 } },
        { coord: [a.x + 0.1, a.y] }]);
      held.push([a.x, a.y]);
    } else if (a.kind === 'above-y') {
      areas.push([{ yAxis: a.y }, { yAxis: Infinity }]);
    } else if (a.kind === 'range-x') {
      areas.push([{ xAxis: a.from, label: label(a.label, { position: 'insideBottom', distance: 6 }) }, { xAxis: a.to }]);
    } else {
      var last = panel.series.every(function (s) { return s.points.every(function (p) { return p.x <= a.x; }); });
      var first = panel.series.every(function (s) { return s.points.every(function (p) { return p.x >= a.x; }); });
      // Above the end of a rising line and below the rest of it there is room.
      points.push({ coord: [a.x, a.y], label: label(a.label, { position: last || points.length % 2 ? 'top' : 'bottom', distance: 4, align: last ? 'right' : first ? 'left' : 'center', offset: [last ? 12 : first ? -4 : 0, 0] }) });
    }
  });
  // A limit far above what is zoomed in on does not press it flat.
  if (!isWhole(zoom)) held = [];
  return {
    id: 'a' + Math.random(), type: 'line', name: '', silent: true, data: held, symbol: 'none', lineStyle: { opacity: 0 }, tooltip: { show: false }, z: 4,
    markLine: { silent: true, symbol: 'none', animation: false, data: lines, lineStyle: { color: ink.muted, type: 'dashed', width: 1 } },
    markArea: { silent: true, animation: false, data: areas, itemStyle: { color: ink.shade } },
    markPoint: { silent: true, animation: false, data: points, symbol: 'circle', symbolSize: 15,
      itemStyle: { color: 'transparent', borderColor: ink.ink, borderWidth: 1.5 } }
  };
}
// Words of a limit stand at the end and on the side of its line where fewest values are near.
function limitPlace(panel, y) {
  var xs = [], best = null;
  panel.series.forEach(function (s) { s.points.forEach(function (p) { xs.push(p.x); }); });
  var low = Math.min.apply(null, xs), high = Math.max.apply(null, xs), logarithmic = low > 0 && high / low > 20;
  function share(x) { return logarithmic ? Math.log(x / low) / Math.log(high / low) : (x - low) / (high - low || 1); }
  var lowest = Infinity;
  panel.series.forEach(function (s) { s.points.forEach(function (p) { lowest = Math.min(lowest, p.y); }); });
  ['insideStartTop', 'insideEndTop', 'insideEndBottom', 'insideStartBottom'].forEach(function (position) {
    var atEnd = position.indexOf('End') > 0, above = position.indexOf('Top') > 0, near = 0;
    panel.series.forEach(function (s) { s.points.forEach(function (p) {
      var at = share(p.x);
      if ((atEnd ? at > 0.65 : at < 0.35) && p.y > 0 && (above ? p.y >= y * 0.95 && p.y < y * 1.9 : p.y <= y * 1.05 && p.y > y / 1.9)) near++;
    }); });
    // Below the lowest value there is the axis.
    if (!above && lowest >= y) near += 0.5;
    if (!best || near < best.near) best = { position: position, near: near };
  });
  return best.position;
}
function element(tag, className, text) {
  var e = document.createElement(tag);
  if (className) e.className = className;
  if (text !== undefined) e.textContent = text;
  return e;
}
function tipRow(box, colour, name, value) {
  var row = element('div', 'row'), left = element('span'), dot = element('span', '', '\u25cf ');
  dot.style.color = colour;
  left.appendChild(dot); left.appendChild(document.createTextNode(name));
  row.appendChild(left); row.appendChild(element('span', 'value', value));
  box.appendChild(row);
}
function tip(chart, ink, zoom) {
  return function (params) {
    var list = (Array.isArray(params) ? params : [params]).filter(function (p) { return p.seriesId.charAt(0) === 'v'; });
    var box = element('div', 'tip'), first = true;
    list.forEach(function (p) {
      var where = p.seriesId.slice(1).split('-'), panel = chart.panels[where[0]], s = panel.series[where[1]], point = withHoles(seen(chart, s, zoom))[p.dataIndex];
      if (point.hole) return;
      if (s.form === 'intervals') {
        if (first) { box.appendChild(element('div', 'at', at(panel.y, point.y))); first = false; }
        var words = withUnit(chart.x.quantity, point.x);
        if (point.span) words += ' [' + format(chart.x.quantity, point.span[0]) + ', ' + format(chart.x.quantity, point.span[1]) + ']';
        tipRow(box, ink.tones[s.tone % ink.tones.length], s.name, words);
        return;
      }
      if (first) {
        var head = chart.x.title + ': ' + at(chart.x, point.x);
        if (s.form.cells && point.span) head += ' to ' + format(chart.x.quantity, point.span[0]);
        box.appendChild(element('div', 'at', head)); first = false;
      }
      if (s.form.cells) {
        var y = at(panel.y, point.y) + (point.span ? ' to ' + format(panel.y.quantity, point.span[1]) : '');
        box.appendChild(element('div', '', panel.y.title + ': ' + y));
        tipRow(box, p.color, s.name, format(s.value, point.value));
        return;
      }
      var text = withUnit(panel.y.quantity, point.y);
      if (point.span) text += ' [' + format(panel.y.quantity, point.span[0]) + ', ' + format(panel.y.quantity, point.span[1]) + ']';
      var name = chart.panels.length > 1 && s.name !== panel.y.title ? panel.y.title + ', ' + s.name : s.name;
      tipRow(box, ink.tones[s.tone % ink.tones.length], name, text);
    });
    return first ? '' : box;
  };
}
var ruler = document.createElement('canvas').getContext('2d');
function widthOf(text, font) { ruler.font = font; return ruler.measureText(text).width; }
var FONT = 'system-ui, "Segoe UI", Roboto, Arial, sans-serif';
// Room for the labels of the y axes: of round steps over the values, as the axis
// will have them, signs and decimals included.
// Names of rows may take a good part of a wide window, and are cut where it is narrow.
function leftOf(chart, width) {
  var widest = 20, most = rowsOf(chart) ? Math.min(Math.max(width * 0.5, 110), 330) : 140;
  function see(text) { widest = Math.max(widest, widthOf(text, '12px ' + FONT)); }
  chart.panels.forEach(function (panel) {
    var all = names(panel.y);
    if (all) { all.forEach(see); return; }
    if (panel.y.quantity === 'latency') see('999 ms');
    var ys = [0];
    panel.series.forEach(function (s) { s.points.forEach(function (p) { ys = ys.concat(p.y, s.form === 'intervals' ? [] : p.span || []); }); });
    var low = ys.reduce(function (a, b) { return Math.min(a, b); }), high = ys.reduce(function (a, b) { return Math.max(a, b); });
    var rough = (high - low) / 10 || 1, power = Math.pow(10, Math.floor(Math.log10(rough)));
    [1, 2, 3, 5, 10, 20, 30, 50].forEach(function (factor) {
      var step = factor * power;
      for (var k = Math.floor(low / step), n = 0; k <= Math.ceil(high / step) && n < 60; k++, n++) see(tick(panel.y.quantity, k * step));
    });
  });
  return Math.min(Math.ceil(widest), most) + 16;
}
// Rows that have a name on the y axis and a mark each.
function rowsOf(chart) {
  var panel = chart.panels[0], all = panel && names(panel.y);
  return all && panel.series.every(function (s) { return s.form === 'intervals'; }) ? all.length : 0;
}
// ---- zoom: places on an axis as shares of what is to be seen ----
// Powers are even on an axis of powers, so that half of it is half of its decades.
function place(axis, value) { return axis.scale === 'log2' ? Math.log2(value) : axis.scale === 'log10' ? Math.log10(value) : value; }
function value(axis, at) { return axis.scale === 'log2' ? Math.pow(2, at) : axis.scale === 'log10' ? Math.pow(10, at) : at; }
function wholeOf(chart) {
  var low = Infinity, high = -Infinity;
  chart.panels.forEach(function (panel) { panel.series.forEach(function (s) { s.points.forEach(function (p) {
    var right = s.form.cells && p.span ? p.span[0] : p.x;
    low = Math.min(low, place(chart.x, p.x)); high = Math.max(high, place(chart.x, right));
  }); }); });
  if (chart.x.scale === 'from-zero' || chart.x.scale === 'nines') low = Math.min(low, 0);
  return high > low ? [low, high] : [low - 0.5, low + 0.5];
}
function windowOf(chart, zoom) {
  var whole = wholeOf(chart), span = whole[1] - whole[0];
  return [whole[0] + span * zoom[0] / 100, whole[0] + span * zoom[1] / 100];
}
function isWhole(zoom) { return zoom[0] <= 0 && zoom[1] >= 100; }
// The points of a line inside the window and their neighbours, so that lines go on
// to its edges and the y axis follows what is seen.
function seen(chart, s, zoom) {
  if (isWhole(zoom) || names(chart.x) || typeof s.form !== 'string') return s.points;
  var range = windowOf(chart, zoom);
  function inside(p) { var at = place(chart.x, p.x); return at >= range[0] && at <= range[1]; }
  return s.points.filter(function (p, i) {
    return inside(p) || (i > 0 && inside(s.points[i - 1])) || (i + 1 < s.points.length && inside(s.points[i + 1]));
  });
}
// Panels of which something is shown; all where nothing is.
function panelsShown(chart, state) {
  var all = chart.panels.map(function (panel, number) { return { panel: panel, number: number }; });
  var shown = all.filter(function (one) { return one.panel.series.some(function (s) { return state.shown[s.name] !== false; }); });
  return shown.length ? shown : all;
}
function options(chart, state, width) {
  var ink = colours(), panels = panelsShown(chart, state), n = panels.length, narrow = width < 520;
  var foot = 50;
  var byAxis = chart.panels.every(function (p) { return p.series.every(function (s) { return typeof s.form === 'string' && s.form !== 'intervals'; }); }) &&
    chart.x.quantity !== 'iops' && chart.x.quantity !== 'mib-per-second';
  var height = state.height, inside = (height - foot) / n, left = leftOf(chart, width);
  var bars = chart.panels.some(function (p) { return p.series.some(function (s) { return typeof s.form !== 'string'; }); });
  var result = {
    animation: false, textStyle: { color: ink.ink, fontFamily: FONT }, backgroundColor: 'transparent',
    title: panels.map(function (one, i) {
      return { text: title(one.panel.y), left: 0, top: i * inside, textStyle: { fontSize: 13, fontWeight: 'normal', color: ink.ink } };
    }),
    grid: panels.map(function (one, i) {
      return { left: left, right: narrow ? 14 : 26, top: i * inside + 28, height: inside - 44, outerBoundsMode: 'none' };
    }),
    xAxis: panels.map(function (one, i) {
      var xs = [];
      chart.panels.forEach(function (p) { p.series.forEach(function (s) { s.points.forEach(function (q) { xs.push(q.x); }); }); });
      var range = windowOf(chart, state.zoom), dated = chart.x.quantity === 'date' && !isWhole(state.zoom);
      var axis = axisOf(chart.x, null, ink, true, dated ? range : chart.x.scale === 'log10' || chart.x.quantity === 'date' ? xs : null);
      axis.gridIndex = i;
      // Long names of bars are cut, not pushed out of the picture; the whole is under the mouse.
      if (names(chart.x)) { axis.axisLabel.width = Math.max((width - left - 30) / Math.min(names(chart.x).length, 4) - 8, 60); axis.axisLabel.overflow = 'truncate'; }
      if (!names(chart.x) && !isWhole(state.zoom)) {
        axis.min = value(chart.x, range[0]); axis.max = value(chart.x, range[1]);
      }
      if (chart.x.quantity === 'time') { axis.axisLabel.alignMinLabel = 'left'; axis.axisLabel.alignMaxLabel = 'right'; }
      if (i < n - 1) axis.axisLabel.show = false;
      else { axis.name = title(chart.x); axis.nameLocation = 'middle'; axis.nameGap = 28; axis.nameTextStyle = { color: ink.ink }; }
      // What stands in brackets goes where there is no room for it.
      if (axis.name && axis.name.length * 6.2 > width - left - 20) axis.name = axis.name.replace(/ \([^)]*\)$/, '');
      return axis;
    }),
    yAxis: panels.map(function (one, i) {
      var usual = one.panel.y.scale === 'log10' || one.panel.y.scale === 'from-zero';
      var shownPanel = { annotations: one.panel.annotations, series: one.panel.series.filter(function (s) { return state.shown[s.name] !== false; }) };
      var axis = axisOf(one.panel.y, usual && state.log !== null && !bars ? state.log : null, ink, false, valuesOf(shownPanel, state.zoom, chart));
      axis.gridIndex = i; axis.splitNumber = n > 1 ? 4 : 5;
      if (names(one.panel.y)) { axis.axisLabel.width = left - 14; axis.axisLabel.overflow = 'truncate'; axis.axisLabel.hideOverlap = false; }
      return axis;
    }),
    legend: { show: false, selected: state.shown },
    axisPointer: { link: [{ xAxisIndex: 'all' }], lineStyle: { color: ink.muted }, label: { show: false } },
    tooltip: {
      trigger: byAxis ? 'axis' : 'item', confine: true, renderMode: 'html', formatter: tip(chart, ink, state.zoom), transitionDuration: 0,
      backgroundColor: ink.raised, borderColor: ink.rule, textStyle: { color: ink.ink, fontSize: 13 }
    },
    series: [], aria: { enabled: false }
  };
  panels.forEach(function (one, i) { result.series = result.series.concat(seriesOf(chart, one.panel, one.number, i, ink, state.zoom)); });
  return result;
}

// ---- the page ----
function swatch(colour, tone) {
  var space = 'http://www.w3.org/2000/svg', svg = document.createElementNS(space, 'svg'), path = document.createElementNS(space, 'path');
  svg.setAttribute('viewBox', '0 0 10 10'); svg.setAttribute('aria-hidden', 'true');
  path.setAttribute('d', OUTLINES[tone % 8]);
  path.setAttribute('fill', colour);
  svg.appendChild(path);
  return svg;
}
function button(tools, text, action) {
  var b = element('button', '', text);
  b.type = 'button';
  b.addEventListener('click', function () { action(b); });
  tools.appendChild(b);
  return b;
}
function save(name, url) {
  var a = document.createElement('a');
  a.href = url; a.download = name;
  document.body.appendChild(a); a.click(); a.remove();
}
// What light, middle and dark of a heat map mean.
function shadesOf(chart) {
  var s = chart.panels.length === 1 && chart.panels[0].series.length === 1 && chart.panels[0].series[0];
  if (!s || !s.form.cells) return null;
  var largest = darkest(s), labelled = s.form.cells.labelled;
  return [0, 0.25, 0.5, 0.75, 1].map(function (share) {
    var words = format(s.value, largest * (labelled ? share : Math.pow(share, 3)));
    var unit = share === 1 ? ' ' + (UNITS[s.value] || s.name) : '';
    return { share: share, words: share % 0.5 ? '' : share ? words + unit : '0' };
  });
}
// A chart as it is seen, with what is beside it on the page: title, target, legend.
function picture(chart, drawn, legend) {
  var FINE = 2, MARGIN = 20, ink = colours(), plot = drawn.getRenderedCanvas({ pixelRatio: FINE, backgroundColor: ink.ground });
  var width = Math.max(plot.width / FINE, 320), rows = [];
  function wrap(text, font, colour, height) {
    var line = '';
    text.split(' ').forEach(function (word) {
      var longer = line ? line + ' ' + word : word;
      if (line && widthOf(longer, font) > width) { rows.push({ text: line, font: font, colour: colour, height: height }); line = word; } else line = longer;
    });
    rows.push({ text: line, font: font, colour: colour, height: height });
  }
  wrap(chart.title, '600 18px ' + FONT, ink.ink, 26);
  if (data.about) wrap(data.about, '13px ' + FONT, ink.muted, 19);
  var font = '13px ' + FONT, x = 0, line = [];
  legend.filter(function (one) { return one.shown; }).forEach(function (one) {
    var wide = widthOf(one.name, font) + 32;
    if (line.length && x + wide > width) { rows.push({ legend: line, height: 22 }); line = []; x = 0; }
    line.push({ x: x, name: one.name, tone: one.tone }); x += wide;
  });
  if (line.length) rows.push({ legend: line, height: 22 });
  var shades = shadesOf(chart);
  if (shades) rows.push({ shades: shades, height: 22 });
  var head = rows.reduce(function (sum, row) { return sum + row.height; }, 0) + 8;
  var canvas = document.createElement('canvas'), pen = canvas.getContext('2d');
  canvas.width = (width + 2 * MARGIN) * FINE; canvas.height = (head + 2 * MARGIN) * FINE + plot.height;
  pen.fillStyle = ink.ground; pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(plot, MARGIN * FINE, (MARGIN + head) * FINE);
  pen.scale(FINE, FINE); pen.translate(MARGIN, MARGIN); pen.textBaseline = 'middle';
  var y = 0;
  rows.forEach(function (row) {
    var middle = y + row.height / 2;
    pen.font = row.font || font; pen.fillStyle = row.colour || ink.ink;
    if (row.text) pen.fillText(row.text, 0, middle);
    (row.legend || []).forEach(function (one) {
      var colour = ink.tones[one.tone % ink.tones.length];
      pen.save(); pen.translate(one.x, middle - 5); pen.fillStyle = colour; pen.fill(new Path2D(OUTLINES[one.tone % 8])); pen.restore();
      pen.fillText(one.name, one.x + 15, middle);
    });
    var at = 0;
    (row.shades || []).forEach(function (one) {
      pen.fillStyle = shade(one.share); pen.fillRect(at, middle - 6, 18, 12); at += 18;
      pen.fillStyle = ink.ink;
      if (one.words) { pen.fillText(one.words, at + 5, middle); at += widthOf(one.words, font) + 14; }
    });
    y += row.height;
  });
  return stamped(canvas.toDataURL('image/png'), { Title: chart.title, Description: data.about, Software: 'Stripewise' });
}
// The same PNG with words in its metadata (iTXt), behind its first chunk.
function stamped(url, facts) {
  function crc(text) {
    var sum = -1;
    for (var i = 0; i < text.length; i++) {
      sum ^= text.charCodeAt(i);
      for (var k = 0; k < 8; k++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
    }
    return ~sum >>> 0;
  }
  function four(n) { return String.fromCharCode(n >>> 24, n >>> 16 & 255, n >>> 8 & 255, n & 255); }
  var raw = atob(url.split(',')[1]), HEAD = 33, chunks = Object.keys(facts).filter(function (name) { return facts[name]; }).map(function (name) {
    var text = 'iTXt' + name + '\0\0\0\0\0' + unescape(encodeURIComponent(facts[name]));
    return four(text.length - 4) + text + four(crc(text));
  });
  return 'data:image/png;base64,' + btoa(raw.slice(0, HEAD) + chunks.join('') + raw.slice(HEAD));
}
function start(figure, chart) {
  var plot = figure.querySelector('.plot'), tools = figure.querySelector('.tools');
  figure.classList.add('live');
  // A line of text for each row.
  if (rowsOf(chart)) plot.style.height = Math.max(rowsOf(chart), 3) * 21 + 90 + 'px';
  var state = { log: null, shown: {}, zoom: [0, 100], height: plot.clientHeight };
  var drawn = echarts.init(plot, null, { renderer: 'canvas' });
  function draw() { drawn.setOption(options(chart, state, plot.clientWidth), { notMerge: true }); }
  var named = {};
  chart.panels.forEach(function (p) { p.series.forEach(function (s) { if (!(s.name in named)) named[s.name] = s.tone; }); });
  var toggles = Object.keys(named).length > 1 ? Object.keys(named).map(function (name) {
    var b = button(tools, '', function (b) {
      var on = b.getAttribute('aria-pressed') !== 'true';
      b.setAttribute('aria-pressed', String(on));
      state.shown[name] = on;
      draw();
    });
    b.className = 'toggle'; b.setAttribute('aria-pressed', 'true');
    return { button: b, name: name };
  }) : [];
  var shades = shadesOf(chart), key = shades ? element('span', 'shades') : null;
  if (key) tools.appendChild(key);
  function paint() {
    toggles.forEach(function (t) {
      t.button.textContent = '';
      t.button.appendChild(swatch(colours().tones[named[t.name] % colours().tones.length], named[t.name]));
      t.button.appendChild(document.createTextNode(t.name));
    });
    if (key) {
      key.textContent = '';
      shades.forEach(function (one) {
        var box = element('i');
        box.style.backgroundColor = shade(one.share);
        key.appendChild(box);
        if (one.words) key.appendChild(element('span', '', one.words));
      });
    }
  }
  paint();
  tools.appendChild(element('span', 'gap'));
  var lines = chart.panels.every(function (p) { return p.series.every(function (s) { return typeof s.form === 'string'; }); });
  if (lines) {
    var scales = [], hasLog = chart.panels.some(function (p) { return p.y.scale === 'log10'; });
    // One of them, or neither: the usual scale of each panel.
    var scale = function (text, log) {
      var b = button(tools, text, function () {
        state.log = state.log === log ? null : log;
        scales.forEach(function (one) { one.button.setAttribute('aria-pressed', String(state.log === one.log)); });
        draw();
      });
      b.className = 'scale'; b.setAttribute('aria-pressed', 'false');
      scales.push({ button: b, log: log });
    };
    if (chart.panels.some(function (p) { return p.y.scale === 'log10' || (p.y.scale === 'from-zero' && p.y.quantity !== 'difference'); })) {
      scale('Log axes', true);
      if (hasLog) scale('Axes from 0', false);
    }
  }
  if (!names(chart.x)) {
    // Around a place of the axis that stays where it is, 0 to 1 of what is seen.
    var zoom = function (factor, around) {
      var from = state.zoom[0], span = state.zoom[1] - from, size = Math.min(Math.max(span * factor, 1), 100);
      var start = Math.min(Math.max(from + (span - size) * around, 0), 100 - size);
      state.zoom = factor === 0 ? [0, 100] : [start, start + size];
      draw();
    };
    button(tools, '+', function () { zoom(0.5, 0.5); }).setAttribute('aria-label', '+ Zoom in');
    button(tools, '\u2212', function () { zoom(2, 0.5); }).setAttribute('aria-label', '\u2212 Zoom out');
    button(tools, 'Reset', function () { zoom(0, 0.5); }).setAttribute('aria-label', 'Reset: show the whole range');
    // The wheel scrolls the page; with Ctrl, as browsers have it, it zooms.
    plot.addEventListener('wheel', function (event) {
      if (!event.ctrlKey) return;
      event.preventDefault();
      var left = leftOf(chart, plot.clientWidth), at = (event.clientX - plot.getBoundingClientRect().left - left) / Math.max(plot.clientWidth - left - 26, 1);
      zoom(event.deltaY < 0 ? 0.8 : 1.25, Math.min(Math.max(at, 0), 1));
    }, { passive: false });
    // What is zoomed in on is dragged along.
    var held = null;
    plot.addEventListener('pointerdown', function (event) { held = isWhole(state.zoom) ? null : { x: event.clientX, from: state.zoom[0] }; });
    plot.addEventListener('pointermove', function (event) {
      if (!held || !(event.buttons & 1)) return;
      var size = state.zoom[1] - state.zoom[0], by = (held.x - event.clientX) / Math.max(plot.clientWidth - leftOf(chart, plot.clientWidth) - 26, 1) * size;
      var start = Math.min(Math.max(held.from + by, 0), 100 - size);
      state.zoom = [start, start + size];
      draw();
    });
  }
  button(tools, 'PNG', function () {
    save(chart.name + '.png', picture(chart, drawn, toggles.map(function (t) {
      return { name: t.name, tone: named[t.name], shown: state.shown[t.name] !== false };
    })));
  }).setAttribute('aria-label', 'PNG: save this chart as a picture');
  draw();
  new ResizeObserver(function () {
    if (!plot.clientWidth) return;
    state.height = plot.clientHeight;
    drawn.resize(); draw();
  }).observe(plot);
  dark.addEventListener('change', function () { paint(); draw(); });
}
// What is folded is drawn when it is opened.
data.charts.forEach(function (chart) {
  var figure = document.getElementById('figure-' + chart.name), fold = figure && figure.closest('details.fold'), started = false;
  function begin() { if (!started && (!fold || fold.open)) { started = true; start(figure, chart); } }
  if (!figure) return;
  begin();
  if (fold) fold.addEventListener('toggle', begin);
});
// All at once, for those who look for something, or print all of it.
(function () {
  var folds = Array.prototype.slice.call(document.querySelectorAll('details.fold')), place = document.getElementById('charts-title');
  if (!place || folds.every(function (one) { return one.open; })) return;
  var b = element('button', 'unfold', 'Open all');
  b.type = 'button';
  b.addEventListener('click', function () {
    var open = b.textContent === 'Open all';
    folds.forEach(function (one) { one.open = open; });
    b.textContent = open ? 'Close all' : 'Open all';
  });
  place.insertAdjacentElement('afterend', b);
})();
// ---- tables: sorted by a click, with bars behind rates and differences ----
var SCALE = { ns: 1, '\u00b5s': 1e3, ms: 1e6, s: 1e9, m: 60e9, h: 3600e9, K: 1024, M: 1048576, G: 1073741824, '%': 1 };
function amount(text) {
  var m = /^[^\d\u2212+-]*([\u2212+-]?[\d,]*\.?\d+) ?([a-z\u00b5%KMG]*)/i.exec(text.trim());
  return m ? parseFloat(m[1].replace(/,/g, '').replace('\u2212', '-')) * (SCALE[m[2]] || 1) : null;
}
function sortable(table) {
  var body = table.tBodies[0], heads = table.tHead ? table.tHead.rows[0].cells : [], rows = Array.prototype.slice.call(body.rows), by = -1, down = false;
  if (rows.length < 2) return;
  Array.prototype.forEach.call(heads, function (th, i) {
    if (!th.textContent) return;
    var b = element('button', 'sort', th.textContent);
    b.type = 'button'; th.textContent = ''; th.appendChild(b); th.setAttribute('aria-sort', 'none');
    b.addEventListener('click', function () {
      down = by === i ? !down : th.className === 'n'; by = i;
      Array.prototype.forEach.call(heads, function (other) { if (other.hasAttribute('aria-sort')) other.setAttribute('aria-sort', other === th ? (down ? 'descending' : 'ascending') : 'none'); });
      var key = function (row) { var text = row.cells[i] ? row.cells[i].textContent : '', n = amount(text); return th.className === 'n' ? (n === null ? -Infinity : n) : text; };
      rows.slice().sort(function (a, b) { var x = key(a), y = key(b); return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1); }).forEach(function (row) { body.appendChild(row); });
    });
  });
}
// Rates have a bar from the right; differences one from the middle, in the colour of the verdict of their row.
// Rates that lie further apart than a bar can show, as those of a disk and of memory do, have bars by their
// logarithm, and a note says so. A difference's bar ends at 100 %, which no loss exceeds; one that is cut there
// is broken before its end.
var APART = 50, DIFFERENCE_MAX = 100;
function barScale(values, words, table) {
  var all = values.map(Math.abs).filter(function (v) { return v > 0; }), most = Math.max.apply(null, all.concat(0)), least = Math.min.apply(null, all.concat(most));
  if (!most || most / least <= APART) return function (v) { return most ? v / most : 0; };
  var low = Math.pow(10, Math.floor(Math.log10(least)) - 1);
  table.insertAdjacentElement('afterend', element('p', 'under', 'Bars of ' + words + ' are logarithmic, from ' + low.toLocaleString('en') + ' to ' + Math.round(most).toLocaleString('en') + '.'));
  return function (v) { return v > 0 ? Math.log(v / low) / Math.log(most / low) : 0; };
}
var VERDICTS = { better: 'rgba(0,150,110,0.30)', worse: 'rgba(214,90,20,0.32)' };
function bars(table) {
  var heads = table.tHead ? Array.prototype.slice.call(table.tHead.rows[0].cells) : [], rows = Array.prototype.slice.call(table.tBodies[0].rows);
  var verdict = heads.map(function (th) { return th.textContent; }).indexOf('Verdict');
  heads.forEach(function (th, i) {
    var words = th.textContent, isDifference = /^(diff %|Estimate|Difference|Mean of diff %)/.test(words);
    if (!isDifference && !/^(IOPS|MiB\/s)/.test(words)) return;
    var cells = rows.map(function (row) { return row.cells[i]; }).filter(Boolean), values = cells.map(function (c) { return amount(c.textContent) || 0; });
    var most = values.reduce(function (m, v) { return Math.max(m, Math.abs(v)); }, 0), widest = Math.min(most, DIFFERENCE_MAX);
    var part = isDifference ? function (v) { return Math.min(1, Math.abs(v) / widest); } : barScale(values, words, table);
    if (most > 0) cells.forEach(function (c) {
      var n = amount(c.textContent), share = part(n || 0) * (isDifference ? 50 : 100), said = verdict >= 0 && c.parentNode.cells[verdict] ? c.parentNode.cells[verdict].textContent : '';
      if (n === null) return;
      if (!isDifference) { c.style.backgroundImage = 'linear-gradient(to left, rgba(47,143,196,0.22) ' + share.toFixed(1) + '%, transparent ' + share.toFixed(1) + '%)'; return; }
      // Pieces of the bar, from the middle outwards, in per cent of the half.
      var colour = VERDICTS[said] || 'rgba(127,135,143,0.30)', pieces = Math.abs(n) > widest ? [[0, 43], [46, 50]] : [[0, share]], stops = [];
      if (n < 0) pieces = pieces.map(function (p) { return [-p[1], -p[0]]; }).reverse();
      pieces.forEach(function (p) {
        var from = (50 + p[0]).toFixed(1) + '%', to = (50 + p[1]).toFixed(1) + '%';
        stops.push('transparent ' + from, colour + ' ' + from, colour + ' ' + to, 'transparent ' + to);
      });
      c.classList.add('delta');
      c.style.backgroundImage = 'linear-gradient(to right, ' + stops.join(', ') + ')';
    });
  });
}
Array.prototype.forEach.call(document.querySelectorAll('#tables table'), function (table) { bars(table); sortable(table); });
// The records are packed: gzip in base64. A browser that cannot unpack gives the
// packed file.
function unpacked() {
  var packed = atob(document.getElementById('record-data').textContent), bytes = new Uint8Array(packed.length);
  for (var i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  if (typeof DecompressionStream === 'undefined') return Promise.resolve(new Blob([bytes], { type: 'application/gzip' }));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text().then(function (text) {
    return new Blob([text], { type: 'application/json' });
  });
}
var download = document.getElementById('download');
if (download) download.addEventListener('click', function () {
  unpacked().then(function (blob) {
    var url = URL.createObjectURL(blob), name = download.getAttribute('data-name');
    save(blob.type === 'application/gzip' ? name + '.gz' : name, url);
    setTimeout(function () { URL.revokeObjectURL(url); }, 10000);
  });
});
})();
