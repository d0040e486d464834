// What cannot be seen in a text made visible: control characters, those that turn the direction of
// writing, and such as take no room. Pure.
//
// Why: names are chosen by strangers. One that turns what stands behind it, or that looks like
// another, would have an operator act on the wrong thing.

const ranges = [
  "\u0000-\u0008\u000b-\u001f\u007f-\u009f", // of terminals
  "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069", // of the direction
  "\u00ad\u200b\u2028\u2029\u2060-\u2065\ufeff\ufff9-\ufffb", // without room of their own
];
const unseen = new RegExp(`[${ranges.join("")}]`, "g");

/** "a[U+202E]b"; lines and tabs stay as they are. */
export function visible(text: string): string {
  return text.replace(unseen, (sign) => {
    const code = sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
    return `[U+${code}]`;
  });
}
