// Places an order. Its reference is made of the key that goes along with every press, so that the
// order is placed once, whatever happens to the answers, and to pawl.

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import type { Answer } from "../api";
import { goTo } from "../hooks";
import { bodyOf, kindsOf, priced, start, stopped, type Terms } from "../logic/terms";
import { toneOf } from "../logic/tones";
import type { Placed, Quota } from "../logic/types";
import { isUsedUp } from "../logic/week";
import { useResource } from "../resource";
import { Notice, Time } from "../ui/basics";
import { DeedDialog } from "../ui/dialog";
import { Select, TextField } from "../ui/fields";
import { tell } from "../ui/toast";

const titles: { [venue: string]: string } = { okx: "OKX", saxo: "Saxo" };
const sides = [
  ["buy", "Buy"],
  ["sell", "Sell"],
] as const;

const decimal = {
  inputMode: "decimal",
  pattern: "[0-9]+([.][0-9]+)?",
  title: "A decimal number, such as 0.1",
} as const;

export function PlaceDialog(props: {
  venues: string[];
  close: () => void;
  placed: () => void;
}): JSX.Element {
  const [terms, setTerms] = useState<Terms>({ ...start, venue: props.venues[0] ?? "" });
  const [reduceOnly, setReduceOnly] = useState(false);
  const done = (answer: Answer): void => {
    const placed = answer.body as unknown as Placed;
    tell(`The order is ${placed.status}.`, toneOf(placed.status));
    props.close();
    props.placed();
    goTo("orders", placed.external_reference);
  };
  return (
    <DeedDialog
      title="Place an order"
      name="Place an order"
      action="Place it"
      close={props.close}
      done={done}
      ask={(key) => ({
        method: "POST",
        path: "/v1/orders?wait_seconds=60",
        outlives: true,
        body: bodyOf(terms, reduceOnly, `panel-${key.slice(0, 20)}`),
      })}
    >
      <WeekUsedUp />
      <TermFields venues={props.venues} terms={terms} change={setTerms} />
      <label class="check">
        <input type="checkbox" checked={reduceOnly} onChange={() => setReduceOnly(!reduceOnly)} />
        Reduce only
      </label>
      <p class="faint">Its reference is made of its key: the venue sees the order once under it.</p>
    </DeedDialog>
  );
}

// Told before the form is filled in, and not by a refusal.
function WeekUsedUp(): JSX.Element | null {
  const { data } = useResource<Quota>("/v1/orders/quota", 5_000);
  if (data === null || !isUsedUp(data)) return null;
  return (
    <Notice tone="warn" role="status">
      <strong>This week's orders are used up ({data.limit}).</strong> What takes a slot of it is
      refused until <Time at={data.next_week} as="full" />, when a new week begins.
    </Notice>
  );
}

function TermFields(props: {
  venues: string[];
  terms: Terms;
  change: (change: (old: Terms) => Terms) => void;
}): JSX.Element {
  const { terms, change } = props;
  const venue = terms["venue"] ?? "";
  const type = terms["type"] ?? "";
  const field = (name: string): { value: string; change: (value: string) => void } => ({
    value: terms[name] ?? "",
    change: (value) => change((old) => ({ ...old, [name]: value })),
  });
  const chooseVenue = (chosen: string): void =>
    change((old) => {
      const fits = kindsOf(chosen).some(([kind]) => kind === old["type"]);
      return { ...old, venue: chosen, ...(fits ? {} : { type: "limit" }) };
    });
  return (
    <div class="grid2">
      <Select
        label="Venue"
        value={venue}
        change={chooseVenue}
        of={props.venues.map((each) => [each, titles[each] ?? each] as const)}
      />
      <Select label="Side" of={sides} {...field("side")} />
      {venue === "okx" ? (
        <TextField
          key="inst"
          label="Instrument"
          placeholder="BTC-USDT-SWAP"
          {...field("inst")}
        />
      ) : (
        <>
          <TextField key="uic" label="Uic" placeholder="211" {...field("uic")} />
          <TextField key="asset_type" label="Asset type" {...field("asset_type")} />
        </>
      )}
      <Select key="type" label="Type" of={kindsOf(venue)} {...field("type")} />
      <TextField key="size" label="Size" placeholder="0.1" {...decimal} {...field("size")} />
      {priced.includes(type) && (
        <TextField key="price" label="Price" {...decimal} {...field("price")} />
      )}
      {stopped.includes(type) && (
        <TextField key="stop_price" label="Stop price" {...decimal} {...field("stop_price")} />
      )}
    </div>
  );
}
