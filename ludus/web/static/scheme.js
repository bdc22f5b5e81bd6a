// Dark and light: the system's own until the button says otherwise. What was chosen is kept, and theme.js shows it first.

const systemDark = matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : systemDark.matches;
}

/** Make a button switch between the two. */
export function bindTheme(button) {
  function paint() {
    button.textContent = isDark() ? "☀" : "☾";
    button.setAttribute("aria-label", isDark() ? "Switch to light" : "Switch to dark");
  }
  button.addEventListener("click", () => {
    const next = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    try {
      localStorage.setItem("ludus.theme", next);
    } catch {
      // Not kept, but shown.
    }
    paint();
  });
  systemDark.addEventListener("change", paint);
  paint();
}
