// The small parts that every page is made of.

import type { ComponentChildren, JSX } from "preact";
import { useEffect } from "preact/hooks";

import type { ApiError } from "../api";
import { useNow, wayBack } from "../hooks";
import { useLive } from "../live";
import { count, instant, local, localShort, relative, since, utc, words } from "../logic/format";
import { href, type Page } from "../logic/route";
import { saidOf } from "../logic/said";
import { toneOf, type Tone } from "../logic/tones";
import type { Resource } from "../resource";
import { shared } from "../shared";
import { Icon, type IconName } from "./icons";

const shapes = {
  short: (at: Date, now: number) => localShort(at, new Date(now)),
  full: local,
  age: (at: Date, now: number) => relative(at.getTime(), now),
  since: (at: Date, now: number) => since(at.getTime(), now),
  instant,
  "full instant": (at: Date) => `${local(at).slice(0, 10)} ${instant(at)}`,
};

/** In the place of a value that is not there. */
export function None(): JSX.Element {
  return <span class="faint">–</span>;
}

/** Local time; UTC on hover and for machines. */
export function Time(props: { at: string | null; as?: keyof typeof shapes }): JSX.Element {
  const shape = props.as ?? "short";
  const now = useNow(shape === "age" || shape === "since" ? 1_000 : 60_000);
  if (props.at === null) return <None />;
  const at = new Date(props.at);
  if (Number.isNaN(at.getTime())) return <span>{props.at}</span>;
  return (
    <time dateTime={props.at} title={`${local(at)} here\n${utc(at)}`}>
      {shapes[shape](at, now)}
    </time>
  );
}

export const toneIcons: { [tone in Tone]: IconName | null } = {
  good: "check",
  bad: "bad",
  warn: "warn",
  plain: null,
};

/** A state: told by word and sign, not by colour alone. */
export function Badge(props: { status: string; tone?: Tone; text?: string }): JSX.Element {
  const tone = props.tone ?? toneOf(props.status);
  const icon = toneIcons[tone];
  return (
    <span class={`badge ${tone}`}>
      {icon && <Icon name={icon} />}
      {props.text ?? words(props.status)}
    </span>
  );
}

export function Card(props: {
  title?: ComponentChildren;
  more?: ComponentChildren;
  class?: string;
  children: ComponentChildren;
}): JSX.Element {
  return (
    <section class={`card ${props.class ?? ""}`}>
      {props.title !== undefined && (
        <header class="card-head">
          <h2>{props.title}</h2>
          {props.more}
        </header>
      )}
      {props.children}
    </section>
  );
}

export function Empty(props: { title: string; children?: ComponentChildren }): JSX.Element {
  return (
    <div class="empty">
      <strong>{props.title}</strong>
      {props.children && <div>{props.children}</div>}
    </div>
  );
}

/** A list without rows: none that fits what is looked for, or none at all, of which the text is. */
export function NoRows(props: {
  of: string;
  filtered: boolean;
  children: ComponentChildren;
}): JSX.Element {
  if (!props.filtered) return <Empty title={`No ${props.of} yet`}>{props.children}</Empty>;
  return (
    <Empty title={`No matching ${props.of}`}>Change or clear the filters to see others.</Empty>
  );
}

const blanks = shared(0);

/** How many parts of the page wait for what was not heard yet. */
export const useBlanks = blanks.use;

function useBlank(): void {
  useEffect(() => {
    blanks.set(blanks.get() + 1);
    return () => blanks.set(blanks.get() - 1);
  }, []);
}

/** The places of what is to come, so that nothing moves when it does. */
export function Loading(props: { rows?: number; as?: "rows" | "tiles" | "plots" }): JSX.Element {
  const shape = props.as ?? "rows";
  useBlank();
  return (
    <div class={`loading ${shape}`} role="status">
      <span class="hidden">Loading</span>
      {Array.from({ length: props.rows ?? 4 }, (_, i) => (
        <div key={i} class="bone" />
      ))}
    </div>
  );
}

/** That pawl is away is told once, above the page. `blank`: there is nothing else to show. */
export function Failure(props: {
  error: ApiError;
  again?: () => void;
  blank?: boolean;
}): JSX.Element | null {
  const { connection } = useLive();
  if (props.error.status === 0 && connection === "lost") return props.blank ? <Awaited /> : null;
  const again = props.again && (
    <button type="button" class="quiet" onClick={props.again}>
      Try again
    </button>
  );
  return (
    <Notice tone="bad" role="alert" more={again}>
      <strong>{props.error.status === 0 ? "No answer" : "That did not work"}</strong>
      <div>{props.error.message}</div>
    </Notice>
  );
}

/** Where records would stand. pawl writes them, but to no place that it can read. */
export function NoLog(): JSX.Element {
  return (
    <Empty title="No log to read here">
      No audit sink is a file. With <code>file:PATH</code> in <code>audit.sinks</code> the records
      stand here.
    </Empty>
  );
}

/** In the place of the page of what does not exist. */
export function NoSuch(props: {
  what: string;
  name: string;
  back: JSX.Element;
  look: () => void;
  children: ComponentChildren;
}): JSX.Element {
  return (
    <>
      <div class="page-head">
        {props.back}
        <h1>{props.name}</h1>
      </div>
      <Empty title={`No such ${props.what}`}>
        <p>{props.children}</p>
        <button type="button" class="quiet" onClick={props.look}>
          Look again
        </button>
      </Empty>
    </>
  );
}

/** What was asked for: until it is there its place, and beside it why it is not up to date. */
export function Shown<T>(props: {
  of: Resource<T>;
  rows?: number;
  as?: "rows" | "plots";
  children: (data: T) => ComponentChildren;
}): JSX.Element {
  const { data, error, refresh } = props.of;
  return (
    <>
      {error && <Failure error={error} again={refresh} blank={data === null} />}
      {data === null
        ? error === null && <Loading rows={props.rows ?? 4} as={props.as ?? "rows"} />
        : props.children(data)}
    </>
  );
}

/** In the place of what was not heard before pawl was away. */
export function Awaited(): JSX.Element {
  useBlank();
  return (
    <Empty title="Not known yet">
      pawl is away. What belongs here comes by itself when it is back.
    </Empty>
  );
}

/** What a page has to say by itself. With a role it is read aloud; `more` is what can be done. */
export function Notice(props: {
  tone: Tone;
  role?: "alert" | "status" | "region";
  label?: string;
  class?: string;
  more?: ComponentChildren;
  children: ComponentChildren;
}): JSX.Element {
  return (
    <div
      class={`notice ${props.tone} ${props.class ?? ""}`}
      role={props.role}
      aria-label={props.label}
    >
      <Icon name={toneIcons[props.tone] ?? "bad"} />
      <div>{props.children}</div>
      {props.more}
    </div>
  );
}

/** Who sent it. An event that pawl was given for nobody in particular has no tenant. */
export function TenantLink({ tenant }: { tenant: string }): JSX.Element {
  if (tenant === "") return <None />;
  return <a href={href("tenants", [tenant])}>{tenant}</a>;
}

/** To the list that this is one of. */
export function Back(props: { page: Page; children: ComponentChildren }): JSX.Element {
  return (
    <a class="back" href={wayBack(props.page)}>
      <Icon name="back" />
      {props.children}
    </a>
  );
}

/** Name and value, one a line; what has no value is left out. */
export function Facts(props: { of: [string, ComponentChildren][] }): JSX.Element {
  const known = props.of.filter(([, value]) => value !== null && value !== false && value !== "");
  return (
    <dl class="facts">
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Says that there are, or may be, more than what is shown. */
export function OnlySome(props: {
  found: number;
  most: number;
  total?: number | null;
  of: string; // "orders, those placed last"
  more?: string;
}): JSX.Element | null {
  if (props.found < props.most) return null;
  return (
    <p class="faint" role="status">
      Showing {count(props.most)}
      {props.total ? ` of ${count(props.total)}` : ""} {props.of}. {props.more}
    </p>
  );
}

/** One number with its name. Its width does not follow its digits. */
export function Tile(props: {
  name: string;
  value: string;
  unit?: string;
  detail?: ComponentChildren;
  tone?: Tone;
}): JSX.Element {
  return (
    <div class={`tile ${props.tone ?? "plain"}`}>
      <div class="tile-name">{props.name}</div>
      <div class="tile-value">
        {props.value}
        {props.unit && <span class="unit">{props.unit}</span>}
      </div>
      <div class="tile-detail">{props.detail}</div>
    </div>
  );
}

/** What others said; a page of HTML is folded. */
export function Said({ text }: { text: string }): JSX.Element {
  const { short, whole } = saidOf(text);
  if (whole === "") return <>{short}</>;
  return (
    <details>
      <summary>{short}</summary>
      <div class="wrap">{whole}</div>
    </details>
  );
}

export function Code(props: { of: unknown }): JSX.Element {
  const text = typeof props.of === "string" ? props.of : JSON.stringify(props.of, null, 2);
  return (
    <pre class="code" tabIndex={0}>
      {text}
    </pre>
  );
}
