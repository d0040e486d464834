// What others said, for people: the answer of a gateway that stands before a venue is a page of
// HTML, of which its kind is enough to know. Pure.

export interface Said {
  short: string;
  whole: string; // empty: there is no more
}

const page = /<(?:!doctype|html|head|body)\b/i;

const instead = "a page of HTML in place of the venue's own answer";

/** "status 502, a page of HTML in place of the venue's own answer", and the text as it came. */
export function saidOf(text: string): Said {
  const at = text.search(page);
  if (at < 0) return { short: plainer(text), whole: "" };
  const before = text
    .slice(0, at)
    .replace(/[\s:,;("']+$/, "")
    .replace(/,? *\S+ gave an answer that is none of its own$/, "")
    .trim();
  const said = before === "" ? instead : `${plainer(before)}, ${instead}`;
  return { short: said + ")".repeat(leftOpen(said)), whole: text };
}

function leftOpen(text: string): number {
  return Math.max(0, text.split("(").length - text.split(")").length);
}

// What pawl notes of an attempt begins with what is known of its end, and the kind of the error.
function plainer(text: string): string {
  return text
    .replace(/^unknown unavailable: /, "no answer: ")
    .replace(/: unknown unavailable: /, ": ")
    .replace(/(^|: )unknown, (?=\d{3}\b)/, "$1outcome unknown, ");
}
