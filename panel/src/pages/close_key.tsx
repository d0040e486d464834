// Closes a key, a type or the whole queue for a while: nothing of it is claimed until then.

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { Closing, Json } from "../logic/types";
import { Select } from "../ui/basics";
import { DeedForm, Dialog } from "../ui/dialog";

const lengths: readonly (readonly [string, string])[] = [
  ["60", "a minute"],
  ["300", "5 minutes"],
  ["900", "15 minutes"],
  ["3600", "an hour"],
  ["21600", "6 hours"],
  ["86400", "a day"],
];

function whatOf(scope: string, name: string): string {
  return scope === "queue" ? "queue" : `${scope} ${name}`;
}

export function CloseDialog(props: {
  scope: string;
  name: string;
  close: () => void;
  done: (text: string) => void;
}): JSX.Element {
  const [scope, setScope] = useState(props.scope);
  const [name, setName] = useState(props.name);
  const [seconds, setSeconds] = useState("900");
  const body: { [name: string]: Json } = { scope, for_seconds: Number(seconds) };
  if (scope !== "queue") body["name"] = name.trim();
  return (
    <Dialog title="Close for a while" close={props.close}>
      <DeedForm
        name={`Close the ${whatOf(scope, name.trim())}`}
        action="Close"
        danger
        close={props.close}
        ask={() => ({ method: "POST", path: "/v1/queue/close", body })}
        done={(answer) => {
          const closed = answer.body as unknown as Closing;
          props.done(`The ${whatOf(closed.scope, closed.name ?? "")} is closed.`);
        }}
      >
        <Select
          label="What"
          value={scope}
          change={setScope}
          of={[
            ["key", "A key"],
            ["type", "A type"],
            ["queue", "The whole queue"],
          ]}
        />
        {scope !== "queue" && (
          <label class="field">
            <span>Name of the {scope}</span>
            <input
              type="text"
              required
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          </label>
        )}
        <Select label="For" value={seconds} change={setSeconds} of={lengths} />
        <p class="faint">What runs goes on. What waits is not claimed before it opens.</p>
      </DeedForm>
    </Dialog>
  );
}
