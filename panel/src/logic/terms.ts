// The terms of an order, as a sentence and as a form. Pure.

import { capital, words } from "./format";
import type { Intent, Json } from "./types";

/** "buy 0.1 BTC-USDT-SWAP, limit 40000" */
export function termsOf(intent: Intent): string {
  const term = (name: string): string => {
    const value = intent.order[name];
    return value === undefined || value === null ? "" : String(value);
  };
  const what = term("inst") || (term("uic") && `${term("asset_type")} ${term("uic")}`);
  const price = term("price") && ` ${term("price")}`;
  const stop = term("stop_price") && `, stop ${term("stop_price")}`;
  const kind = term("type").replace("_", " ");
  return `${term("side")} ${term("size")} ${what}, ${kind}${price}${stop}`;
}

export type Terms = { [name: string]: string };

export const start: Terms = {
  venue: "okx",
  inst: "",
  uic: "",
  asset_type: "Stock",
  side: "buy",
  type: "limit",
  size: "",
  price: "",
  stop_price: "",
};
export const priced = ["limit", "stop_limit", "post_only"];
export const stopped = ["stop", "stop_limit"];

/** Only what the chosen kind of order has. */
export function bodyOf(
  terms: Terms,
  reduceOnly: boolean,
  reference: string,
): { [name: string]: Json } {
  const names = [
    "venue",
    "side",
    "type",
    "size",
    ...(terms["venue"] === "okx" ? ["inst"] : ["uic", "asset_type"]),
    ...(priced.includes(terms["type"] ?? "") ? ["price"] : []),
    ...(stopped.includes(terms["type"] ?? "") ? ["stop_price"] : []),
  ];
  const body: { [name: string]: Json } = {};
  for (const name of names) body[name] = (terms[name] ?? "").trim();
  if (reduceOnly) body["reduce_only"] = true;
  body["external_reference"] = reference;
  return body;
}

const names: readonly (readonly [string, string])[] = [
  ["side", "Side"],
  ["size", "Size"],
  ["inst", "Instrument"],
  ["uic", "Uic"],
  ["asset_type", "Asset type"],
  ["type", "Type"],
  ["price", "Price"],
  ["stop_price", "Stop price"],
];

/** Name and value of each term: what is bought and for how much first, then the rest. */
export function termFacts(order: { [term: string]: Json }): [string, string][] {
  const known = new Set(["venue", ...names.map(([name]) => name)]);
  const rest = Object.keys(order).filter((name) => !known.has(name));
  const all = [...names, ...rest.map((name) => [name, capital(words(name))] as const)];
  return all
    .filter(([name]) => order[name] !== undefined && order[name] !== null)
    .map(([name, title]) => [title, plain(order[name] ?? null)]);
}

function plain(value: Json): string {
  return typeof value === "boolean" ? (value ? "yes" : "no") : String(value);
}

/** A post-only order is a kind that Saxo does not have. */
export function kindsOf(venue: string): readonly (readonly [string, string])[] {
  const kinds = [
    ["limit", "Limit"],
    ["market", "Market"],
    ["stop", "Stop"],
    ["stop_limit", "Stop limit"],
  ] as const;
  return venue === "okx" ? [...kinds, ["post_only", "Post only"]] : kinds;
}
