// The panel begins here.

import { render } from "preact";

import { App } from "./app";
import { followTheme } from "./theme";
import { drawNothingUnseen } from "./ui/visible";
import "uplot/dist/uPlot.min.css";
import "../style/base.css";
import "../style/shell.css";
import "../style/parts.css";
import "../style/content.css";
import "../style/table.css";

followTheme();
drawNothingUnseen();
const place = document.getElementById("panel");
if (place) {
  place.textContent = "";
  render(<App />, place);
}
