// What is chosen and what is typed.

import type { JSX } from "preact";

import { Icon } from "./icons";

/** Values that are all in sight. */
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

export function Select<T extends string>(props: {
  label: string;
  value: T;
  of: readonly (readonly [T, string])[];
  change: (value: T) => void;
}): JSX.Element {
  return (
    <label class="field inline">
      <span>{props.label}</span>
      <select
        value={props.value}
        onChange={(event) => props.change(event.currentTarget.value as T)}
      >
        {props.of.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

interface Text {
  label: string;
  value: string;
  change: (value: string) => void;
  required?: boolean;
  placeholder?: string;
  inputMode?: "decimal";
  pattern?: string;
  title?: string; // what the pattern means
  maxLength?: number;
}

const filledIn = { pattern: ".*\\S.*", title: "A word or more" };

/** A line of text. It must be filled in, unless something else is said. */
export function TextField({ label, change, ...input }: Text): JSX.Element {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        key={input.pattern} // one that lost its pattern would have an empty one: nothing fits that
        type="text"
        required
        {...(input.required === false ? {} : filledIn)}
        {...input}
        onInput={(event) => change(event.currentTarget.value)}
      />
    </label>
  );
}

/** In the words of whoever settles what nothing else could. */
export function HowKnown(props: { value: string; change: (value: string) => void }): JSX.Element {
  return (
    <TextField
      label="How do you know?"
      maxLength={500}
      {...props}
    />
  );
}
