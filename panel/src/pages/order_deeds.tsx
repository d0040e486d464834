// What can be done about an order: reconcile, resolve, cancel.

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { segment, type Answer } from "../api";
import { canceled } from "../logic/canceled";
import { reconciled } from "../logic/reconciled";
import type { Tone } from "../logic/tones";
import type { Changed, Placed } from "../logic/types";
import { DeedDialog, useAsking } from "../ui/dialog";
import { HowKnown, TextField } from "../ui/fields";

interface Props {
  reference: string;
  close: () => void;
  done: (text: string, tone?: Tone) => void;
}

const path = (reference: string, what: string): string =>
  `/v1/orders/${segment(reference)}/${what}`;

function foundBy(answer: Answer): { text: string; tone: Tone } {
  return reconciled((answer.body as unknown as { orders?: Placed[] } | null)?.orders ?? []);
}

export function ReconcileAll({ refresh }: { refresh: () => void }): JSX.Element {
  const { asked, ask, close, done } = useAsking<"all">(refresh);
  return (
    <>
      <button type="button" class="quiet" onClick={() => ask("all")}>
        Reconcile all
      </button>
      {asked && (
        <DeedDialog
          title="Reconcile all open orders?"
          name="Reconcile all open orders"
          action="Reconcile"
          close={close}
          ask={() => ({ method: "POST", path: "/v1/order-reconciliations" })}
          done={(answer) => {
            const { text, tone } = foundBy(answer);
            done(text, tone);
          }}
        >
          <p>
            The venues are asked what became of them. Nothing is sent again before absence is shown.
          </p>
        </DeedDialog>
      )}
    </>
  );
}

export function ReconcileDialog({ reference, close, done }: Props): JSX.Element {
  return (
    <DeedDialog
      title={`Reconcile ${reference}?`}
      name={`Reconcile ${reference}`}
      action="Reconcile"
      close={close}
      ask={() => ({ method: "POST", path: path(reference, "reconcile") })}
      done={(answer) => {
        const { text, tone } = foundBy(answer);
        done(text, tone);
      }}
    >
      <p>
        The venue is asked what became of it. This may take as long as <code>orders.settle</code>,
        and more.
      </p>
    </DeedDialog>
  );
}

export function CancelDialog({ reference, close, done }: Props): JSX.Element {
  return (
    <DeedDialog
      title={`Cancel ${reference}?`}
      name={`Cancel ${reference}`}
      action="Cancel the order"
      danger
      close={close}
      ask={() => ({ method: "POST", path: path(reference, "cancel") })}
      done={(answer) => {
        const { text, tone } = canceled(answer.body as unknown as Changed);
        done(text, tone);
      }}
    >
      <p>It still counts in its week.</p>
    </DeedDialog>
  );
}

const findings = [
  ["placed", "It is there"],
  ["absent", "It is not, and will not be"],
] as const;
type Finding = (typeof findings)[number][0];

export function ResolveDialog({ reference, close, done }: Props): JSX.Element {
  const [as, setAs] = useState<Finding>("placed");
  const [orderId, setOrderId] = useState("");
  const [reason, setReason] = useState("");
  const body = as === "placed" ? { as, order_id: orderId.trim(), reason } : { as, reason };
  return (
    <DeedDialog
      title={`Resolve ${reference}`}
      name={`Resolve ${reference}`}
      action="Put on record"
      close={close}
      ask={() => ({ method: "POST", path: path(reference, "resolve"), body })}
      done={() => done("Your word is on record.")}
    >
      <p>Your word settles what nothing else could. It is in the audit log before it holds.</p>
      <fieldset class="options">
        <legend>What did you find at the venue?</legend>
        {findings.map(([value, text]) => (
          <label key={value}>
            <input
              type="radio"
              name="as"
              checked={as === value}
              onChange={() => setAs(value)}
            />{" "}
            {text}
          </label>
        ))}
      </fieldset>
      {as === "placed" && (
        <TextField label="The venue's order id" value={orderId} change={setOrderId} />
      )}
      <HowKnown value={reason} change={setReason} />
    </DeedDialog>
  );
}
