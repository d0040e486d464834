// The panel begins here.

import { render } from "preact";

import { App } from "./app";
import { applyTheme } from "./theme";
import "uplot/dist/uPlot.min.css";
import "../style/base.css";
import "../style/shell.css";
import "../style/parts.css";
import "../style/content.css";
import "../style/table.css";

applyTheme();
const place = document.getElementById("panel");
if (place) {
  place.textContent = "";
  render(<App />, place);
}
