// Sets the theme before the first paint. Inline code is refused by the page's policy, so this is a file of its own.
(function () {
  try {
    var chosen = JSON.parse(localStorage.getItem('cronjob-monitor.theme') || '"system"');
    if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
  } catch {
    // Storage is off: the system's theme holds.
  }
})();
