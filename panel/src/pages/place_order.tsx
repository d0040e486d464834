// Places an order. Its reference is made of the key that goes along with every press, so that the
// order is placed once, whatever happens to the answers, and to pawl.

import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";

import type { Answer } from "../api";
import { href } from "../logic/route";
import { bodyOf, kindsOf, priced, start, stopped, type Terms } from "../logic/terms";
import type { Placed } from "../logic/types";
import { Select, tones } from "../ui/basics";
import { DeedForm, Dialog } from "../ui/dialog";
import { tell } from "../ui/toast";

const titles: { [venue: string]: string } = { okx: "OKX", saxo: "Saxo" };

export function PlaceDialog(props: {
  venues: string[];
  close: () => void;
  placed: () => void;
}): JSX.Element {
  const [terms, setTerms] = useState<Terms>({ ...start, venue: props.venues[0] ?? "" });
  const venue = terms["venue"] ?? "";
  const chooseVenue = (chosen: string): void =>
    setTerms((old) => {
      const fits = kindsOf(chosen).some(([kind]) => kind === old["type"]);
      return { ...old, venue: chosen, ...(fits ? {} : { type: "limit" }) };
    });
  const [reduceOnly, setReduceOnly] = useState(false);
  const set =
    (name: string) =>
    (value: string): void =>
      setTerms((old) => ({ ...old, [name]: value }));
  const done = (answer: Answer): void => {
    const placed = answer.body as unknown as Placed;
    tell(`The order is ${placed.status}.`, tones[placed.status]);
    props.close();
    props.placed();
    window.location.hash = href("orders", [placed.external_reference]);
  };
  return (
    <Dialog title="Place an order" close={props.close}>
      <DeedForm
        name="Place an order"
        action="Place it"
        close={props.close}
        done={done}
        ask={(key) => ({
          method: "POST",
          path: "/v1/orders?wait_seconds=60",
          body: bodyOf(terms, reduceOnly, `panel-${key.slice(0, 20)}`),
        })}
      >
        <div class="grid2">
          <Select
            label="Venue"
            value={venue}
            change={chooseVenue}
            of={props.venues.map((each) => [each, titles[each] ?? each] as const)}
          />
          <Select
            label="Side"
            value={terms["side"] ?? ""}
            change={set("side")}
            of={[
              ["buy", "Buy"],
              ["sell", "Sell"],
            ]}
          />
          {venue === "okx" ? (
            <Text
              label="Instrument"
              hint="BTC-USDT-SWAP"
              value={terms["inst"]}
              change={set("inst")}
            />
          ) : (
            <>
              <Text label="Uic" hint="211" value={terms["uic"]} change={set("uic")} />
              <Text label="Asset type" value={terms["asset_type"]} change={set("asset_type")} />
            </>
          )}
          <Select
            label="Type"
            value={terms["type"] ?? ""}
            change={set("type")}
            of={kindsOf(venue)}
          />
          <Text label="Size" hint="0.1" value={terms["size"]} change={set("size")} decimal />
          {priced.includes(terms["type"] ?? "") && (
            <Text label="Price" value={terms["price"]} change={set("price")} decimal />
          )}
          {stopped.includes(terms["type"] ?? "") && (
            <Text
              label="Stop price"
              value={terms["stop_price"]}
              change={set("stop_price")}
              decimal
            />
          )}
        </div>
        <label class="check">
          <input type="checkbox" checked={reduceOnly} onChange={() => setReduceOnly(!reduceOnly)} />
          Reduce only
        </label>
        <p class="faint">
          Its reference is made of its key: the venue sees the order once under it.
        </p>
      </DeedForm>
    </Dialog>
  );
}

function Text(props: {
  label: string;
  value: string | undefined;
  change: (value: string) => void;
  hint?: string;
  decimal?: boolean;
  children?: ComponentChildren;
}): JSX.Element {
  return (
    <label class="field">
      <span>{props.label}</span>
      <input
        type="text"
        required
        value={props.value ?? ""}
        placeholder={props.hint ?? ""}
        inputMode={props.decimal ? "decimal" : "text"}
        {...(props.decimal
          ? { pattern: "[0-9]+([.][0-9]+)?", title: "A decimal number, such as 0.1" }
          : {})}
        onInput={(event) => props.change(event.currentTarget.value)}
      />
    </label>
  );
}
