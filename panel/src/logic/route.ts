// Where in the panel one is: the part of the address behind its #. Pure.
//
//   #/tenants                    the page
//   #/tenants/acme%20ltd         one thing of it; names may hold anything
//   #/tasks?status=failed        with filters

export const pages = [
  "overview",
  "tenants",
  "idempotency",
  "orders",
  "tasks",
  "audit",
  "policies",
] as const;
export type Page = (typeof pages)[number];

export interface Route {
  page: Page;
  names: string[]; // behind the page, decoded
  query: { [name: string]: string };
}

export function parseRoute(hash: string): Route {
  const text = hash.replace(/^#?\/?/, "");
  const cut = text.indexOf("?");
  const path = cut < 0 ? text : text.slice(0, cut);
  const [first = "", ...rest] = path.split("/");
  const page = pages.find((each) => each === first) ?? "overview";
  const names = rest.filter((part) => part !== "").map(decoded);
  const query = Object.fromEntries(new URLSearchParams(cut < 0 ? "" : text.slice(cut + 1)));
  return { page, names: page === first ? names : [], query };
}

export function href(
  page: Page,
  names: string[] = [],
  query: { [name: string]: string } = {},
): string {
  const path = [page, ...names.map(encodeURIComponent)].join("/");
  const kept = Object.entries(query).filter(([, value]) => value !== "");
  const text = new URLSearchParams(kept).toString();
  return `#/${path}${text ? "?" + text : ""}`;
}

/** The same place with another filter. */
export function filtered(route: Route, name: string, value: string): string {
  return href(route.page, route.names, { ...route.query, [name]: value });
}

// An address that somebody has cut is no reason to fail.
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
