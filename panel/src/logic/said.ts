// What others said, for people: the answer of a gateway that stands before a venue is a page of
// HTML, of which its kind is enough to know. Pure.

export interface Said {
  short: string;
  whole: string; // empty: there is no more
}

const page = /<(?:!doctype|html|head|body)\b/i;

/** "place: 502, not its own answer", and the text as it came. */
export function saidOf(text: string): Said {
  const at = text.search(page);
  if (at < 0) return { short: text, whole: "" };
  const before = text
    .slice(0, at)
    .replace(/[\s:,;("']+$/, "")
    .trim();
  const short = before === "" ? "a page of HTML" : `${before}, and a page of HTML`;
  return { short: `${short}: not the venue's own answer`, whole: text };
}
