// Light or dark: as the system has it, until somebody chooses. The choice stays in this browser.

import { shared } from "./shared";

type Theme = "light" | "dark";

const name = "pawl-theme";
const dark = window.matchMedia("(prefers-color-scheme: dark)");
let chosen = kept();
const theme = shared(themeNow());
export const useTheme = theme.use;

function kept(): Theme | null {
  try {
    const text = window.localStorage.getItem(name);
    return text === "light" || text === "dark" ? text : null;
  } catch {
    return null; // a browser that keeps nothing
  }
}

function themeNow(): Theme {
  return chosen ?? (dark.matches ? "dark" : "light");
}

function apply(): void {
  document.documentElement.dataset["theme"] = themeNow();
  theme.set(themeNow());
}

export function followTheme(): void {
  apply();
  dark.addEventListener("change", apply);
}

export function choose(wanted: Theme): void {
  chosen = wanted;
  try {
    window.localStorage.setItem(name, wanted);
  } catch {
    // It holds until the page is left.
  }
  apply();
}
