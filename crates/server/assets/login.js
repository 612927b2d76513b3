// The token stands behind the #, which browsers send to nobody. It is posted once, and
// leaves the address before anything else.
(function () {
'use strict';
var token = location.hash.slice(1), status = document.getElementById('status');
history.replaceState(null, '', '/login');
if (!token) return;
fetch('/login', {
  method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ token: token })
}).then(function (answer) {
  if (answer.ok) { location.replace('/'); return null; }
  return answer.json().then(function (failed) { status.textContent = failed.error + '. ' + (failed.hint || ''); });
}).catch(function () { status.textContent = 'The server does not answer.'; });
})();
