// Before anything is shown: the theme that was chosen last, so that no page flashes in the other one.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("ludus.theme");
  } catch {
    // Storage may be closed to us; the system's own preference is as good.
  }
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
})();
