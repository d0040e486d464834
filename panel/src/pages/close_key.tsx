// Closes a key, a type or the whole queue for a while: nothing of it is claimed until then.

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { Closing, Json } from "../logic/types";
import { DeedDialog } from "../ui/dialog";
import { Select, TextField } from "../ui/fields";

const lengths: readonly (readonly [string, string])[] = [
  ["60", "a minute"],
  ["300", "5 minutes"],
  ["900", "15 minutes"],
  ["3600", "an hour"],
  ["21600", "6 hours"],
  ["86400", "a day"],
];

const scopes = [
  ["key", "A key"],
  ["type", "A type"],
  ["queue", "The whole queue"],
] as const;

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
  if (scope !== "queue") body["name"] = name;
  return (
    <DeedDialog
      title="Close for a while"
      name={`Close the ${whatOf(scope, name)}`}
      action="Close"
      danger
      close={props.close}
      ask={() => ({ method: "POST", path: "/v1/queue/close", body })}
      done={(answer) => {
        const closed = answer.body as unknown as Closing;
        props.done(`The ${whatOf(closed.scope, closed.name ?? "")} is closed.`);
      }}
    >
      <Select label="What" value={scope} change={setScope} of={scopes} />
      {scope !== "queue" && (
        <TextField label={`Name of the ${scope}`} value={name} change={setName} />
      )}
      <Select label="For" value={seconds} change={setSeconds} of={lengths} />
      <p class="faint">What runs goes on. What waits is not claimed before it opens.</p>
    </DeedDialog>
  );
}
