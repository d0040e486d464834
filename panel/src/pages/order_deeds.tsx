// What can be done about an order: reconcile, resolve, cancel.

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { segment } from "../api";
import { plural } from "../logic/format";
import { DeedForm, Dialog } from "../ui/dialog";
import { tell } from "../ui/toast";

export function ReconcileAll({ done }: { done: () => void }): JSX.Element {
  const [asked, setAsked] = useState(false);
  return (
    <>
      <button type="button" class="quiet" onClick={() => setAsked(true)}>
        Reconcile all
      </button>
      {asked && (
        <Dialog title="Reconcile all open orders?" close={() => setAsked(false)}>
          <DeedForm
            name="Reconcile all open orders"
            action="Reconcile"
            close={() => setAsked(false)}
            ask={() => ({ method: "POST", path: "/v1/order-reconciliations" })}
            done={(answer) => {
              const found = (answer.body as { orders?: unknown[] } | null)?.orders ?? [];
              setAsked(false);
              tell(`${plural(found.length, "order")} looked for.`);
              done();
            }}
          >
            <p>
              The venues are asked what became of them. Nothing is sent again before absence is
              shown.
            </p>
          </DeedForm>
        </Dialog>
      )}
    </>
  );
}

interface Props {
  reference: string;
  close: () => void;
  done: (text: string) => void;
}

const path = (reference: string, what: string): string =>
  `/v1/orders/${segment(reference)}/${what}`;

export function ReconcileDialog({ reference, close, done }: Props): JSX.Element {
  return (
    <Dialog title={`Reconcile ${reference}?`} close={close}>
      <DeedForm
        name={`Reconcile ${reference}`}
        action="Reconcile"
        close={close}
        done={() => done("The venue was asked.")}
        ask={() => ({ method: "POST", path: path(reference, "reconcile") })}
      >
        <p>
          The venue is asked what became of it. This may take as long as <code>orders.settle</code>,
          and more.
        </p>
      </DeedForm>
    </Dialog>
  );
}

export function CancelDialog({ reference, close, done }: Props): JSX.Element {
  return (
    <Dialog title={`Cancel ${reference}?`} close={close}>
      <DeedForm
        name={`Cancel ${reference}`}
        action="Cancel the order"
        danger
        close={close}
        done={() => done("The venue accepted the cancel.")}
        ask={() => ({ method: "POST", path: path(reference, "cancel") })}
      >
        <p>It still counts in its week.</p>
      </DeedForm>
    </Dialog>
  );
}

export function ResolveDialog({ reference, close, done }: Props): JSX.Element {
  const [as, setAs] = useState<"placed" | "absent">("placed");
  const [orderId, setOrderId] = useState("");
  const [reason, setReason] = useState("");
  const body = as === "placed" ? { as, order_id: orderId, reason } : { as, reason };
  return (
    <Dialog title={`Resolve ${reference}`} close={close}>
      <DeedForm
        name={`Resolve ${reference}`}
        action="Put on record"
        close={close}
        done={() => done("Your word is on record.")}
        ask={() => ({ method: "POST", path: path(reference, "resolve"), body })}
      >
        <p>Your word settles what nothing else could. It is in the audit log before it holds.</p>
        <fieldset class="options">
          <legend>What did you find at the venue?</legend>
          <label>
            <input
              type="radio"
              name="as"
              checked={as === "placed"}
              onChange={() => setAs("placed")}
            />{" "}
            It is there
          </label>
          <label>
            <input
              type="radio"
              name="as"
              checked={as === "absent"}
              onChange={() => setAs("absent")}
            />{" "}
            It is not, and will not be
          </label>
        </fieldset>
        {as === "placed" && (
          <label class="field">
            <span>The venue's order id</span>
            <input
              type="text"
              required
              value={orderId}
              onInput={(event) => setOrderId(event.currentTarget.value)}
            />
          </label>
        )}
        <label class="field">
          <span>How do you know?</span>
          <input
            type="text"
            required
            maxLength={500}
            value={reason}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
        </label>
      </DeedForm>
    </Dialog>
  );
}
