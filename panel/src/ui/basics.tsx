// The small parts that every page is made of.

import type { ComponentChildren, JSX } from "preact";

import type { ApiError } from "../api";
import { useNow, wayBack } from "../hooks";
import { useLive } from "../live";
import { instant, local, localShort, relative, since, utc, words } from "../logic/format";
import type { Page } from "../logic/route";
import type { Tone } from "../logic/story";
import { Icon, type IconName } from "./icons";

const shapes = {
  short: (at: Date, now: number) => localShort(at, new Date(now)),
  full: local,
  age: (at: Date, now: number) => relative(at.getTime(), now),
  since: (at: Date, now: number) => since(at.getTime(), now),
  instant,
  "full instant": (at: Date) => `${local(at).slice(0, 10)} ${instant(at)}`,
};

/** Local time; UTC on hover and for machines. */
export function Time(props: { at: string | null; as?: keyof typeof shapes }): JSX.Element {
  const shape = props.as ?? "short";
  const now = useNow(shape === "age" || shape === "since" ? 1_000 : 60_000);
  if (props.at === null) return <span class="faint">–</span>;
  const at = new Date(props.at);
  if (Number.isNaN(at.getTime())) return <span>{props.at}</span>;
  return (
    <time dateTime={props.at} title={`${local(at)} here\n${utc(at)}`}>
      {shapes[shape](at, now)}
    </time>
  );
}

export const tones: { [status: string]: Tone } = {
  done: "good",
  confirmed: "good",
  completed: "good",
  ok: "good",
  closed: "good",
  filled: "good",
  working: "good",
  ready: "good",
  replayed: "good",
  failed: "bad",
  rejected: "bad",
  unresolved: "bad",
  down: "bad",
  open: "bad",
  expired: "bad",
  mismatch: "bad",
  denied: "bad",
  unknown: "warn",
  reconciling: "warn",
  sending: "warn",
  in_flight: "warn",
  degraded: "warn",
  half_open: "warn",
  running: "warn",
  near: "warn",
};
export const toneIcons: { [tone in Tone]: IconName | null } = {
  good: "check",
  bad: "bad",
  warn: "warn",
  plain: null,
};

/** A state: told by word and sign, not by colour alone. */
export function Badge(props: { status: string; tone?: Tone; text?: string }): JSX.Element {
  const tone = props.tone ?? tones[props.status] ?? "plain";
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
  level?: 2 | 3;
}): JSX.Element {
  const Heading = props.level === 3 ? "h3" : "h2";
  return (
    <section class={`card ${props.class ?? ""}`}>
      {props.title !== undefined && (
        <header class="card-head">
          <Heading>{props.title}</Heading>
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

/** The places of what is to come, so that nothing moves when it does. */
export function Loading(props: { rows?: number; as?: "rows" | "tiles" | "plots" }): JSX.Element {
  const shape = props.as ?? "rows";
  return (
    <div class={`loading ${shape}`} role="status">
      <span class="hidden">Loading</span>
      {Array.from({ length: props.rows ?? 4 }, (_, i) => (
        <div key={i} class="bone" />
      ))}
    </div>
  );
}

/** That pawl is away is told once, above the page. */
export function Failure(props: { error: ApiError; again?: () => void }): JSX.Element | null {
  const { connection } = useLive();
  if (props.error.status === 0 && connection === "lost") return null;
  return (
    <div class="notice bad" role="alert">
      <Icon name="bad" />
      <div>
        <strong>{props.error.status === 0 ? "No answer" : "That did not work"}</strong>
        <div>{props.error.message}</div>
      </div>
      {props.again && (
        <button type="button" class="quiet" onClick={props.again}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Notice(props: { tone: Tone; children: ComponentChildren }): JSX.Element {
  return (
    <div class={`notice ${props.tone}`}>
      <Icon name={toneIcons[props.tone] ?? "shield"} />
      <div>{props.children}</div>
    </div>
  );
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

/** Name and value, one a line. */
export function Facts(props: { of: [string, ComponentChildren][] }): JSX.Element {
  return (
    <dl class="facts">
      {props.of.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Choice<T extends string>(props: {
  label: string;
  value: T;
  of: readonly (readonly [T, string])[];
  choose: (value: T) => void;
}): JSX.Element {
  return (
    <div class="choice" role="group" aria-label={props.label}>
      {props.of.map(([value, text]) => (
        <button
          key={value}
          type="button"
          aria-pressed={value === props.value}
          onClick={() => props.choose(value)}
        >
          {text}
        </button>
      ))}
    </div>
  );
}

export function Search(props: {
  label: string;
  value: string;
  change: (value: string) => void;
  hint?: string;
}): JSX.Element {
  return (
    <label class="search">
      <span class="hidden">{props.label}</span>
      <Icon name="search" />
      <input
        type="search"
        value={props.value}
        placeholder={props.hint ?? props.label}
        onInput={(event) => props.change(event.currentTarget.value)}
      />
    </label>
  );
}

export function Select(props: {
  label: string;
  value: string;
  of: readonly (readonly [string, string])[];
  change: (value: string) => void;
}): JSX.Element {
  return (
    <label class="field inline">
      <span>{props.label}</span>
      <select value={props.value} onChange={(event) => props.change(event.currentTarget.value)}>
        {props.of.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
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

export function Code(props: { of: unknown }): JSX.Element {
  const text = typeof props.of === "string" ? props.of : JSON.stringify(props.of, null, 2);
  return (
    <pre class="code" tabIndex={0}>
      {text}
    </pre>
  );
}
