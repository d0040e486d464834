// A question before something is done. The browser's own dialog: it keeps the focus, and Escape
// closes it. What was begun in it stands above the page then, until its end is known.

import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

import type { Answer, Change } from "../api";
import { finish, letGo, useBegun, useDeed, type Begun } from "../deeds";
import { shortened } from "../logic/format";
import { isOpen, mayPress, type Deed } from "../logic/deed";
import type { Tone } from "../logic/tones";
import { Code, Notice } from "./basics";
import { Icon } from "./icons";
import { tell } from "./toast";

export function Dialog(props: {
  title: string;
  close: () => void;
  children: ComponentChildren;
}): JSX.Element {
  const self = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const dialog = self.current;
    const opener = document.activeElement;
    dialog?.showModal();
    focusFirst(dialog?.querySelector("form") ?? null);
    // While the dialog is in the page: the browser gives the focus back to where it was. Where that
    // is gone by now, the page has it.
    return () => {
      dialog?.close();
      if (!opener?.isConnected) document.getElementById("main")?.focus();
    };
  }, []);
  return (
    <dialog
      ref={self}
      class="dialog"
      aria-labelledby="dialog-title"
      onCancel={(event) => {
        event.preventDefault();
        props.close();
      }}
    >
      <header class="card-head">
        <h2 id="dialog-title">{props.title}</h2>
        <button type="button" class="icon-button" aria-label="Close" onClick={props.close}>
          <Icon name="close" />
        </button>
      </header>
      {props.children}
    </dialog>
  );
}

interface Asking<T> {
  asked: T | null;
  ask: (what: T) => void;
  close: () => void;
  done: (text: string, tone?: Tone) => void;
}

/** What a page asks in a dialog, if anything. Once it is done, that is told and seen. */
export function useAsking<T>(refresh: () => void): Asking<T> {
  const [asked, ask] = useState<T | null>(null);
  const close = (): void => ask(null);
  const done = (text: string, tone?: Tone): void => {
    close();
    tell(text, tone);
    refresh();
  };
  return { asked, ask, close, done };
}

// What is to be filled in; where nothing is, the button that does no harm.
function focusFirst(form: HTMLFormElement | null): void {
  const field = "input:enabled, select:enabled, textarea:enabled";
  const first = form?.querySelector<HTMLElement>(field) ?? form?.querySelector("button.quiet");
  (first as HTMLElement | null | undefined)?.focus();
}

/** Says that a form may be sent again, and by which key. */
function SafeToRetry(props: { deed: Deed }): JSX.Element {
  return (
    <p class="safe">
      <Icon name="shield" />
      <span>
        Safe to retry: it carries <code>Idempotency-Key: {shortened(props.deed.key, 14)}</code>, so
        pressing twice does it once.
      </span>
    </p>
  );
}

const notKnown = "Whether it was done is not known.";
const forgotten =
  "pawl does not know its key any more: it was restarted, or was asked too long ago. Look first " +
  "what became of it: pressed again, it might be done twice.";
const notDone = "You were signed out, and it was not done.";

function DeedState({ deed }: { deed: Deed }): JSX.Element | null {
  const text = endOf(deed);
  if (text === null) return null;
  return (
    <Notice tone={deed.state === "refused" ? "bad" : "warn"} role="alert">
      {text}
    </Notice>
  );
}

function endOf(deed: Deed): string | null {
  switch (deed.state) {
    case "refused":
      return deed.reason;
    case "doubtful":
      return `${deed.reason} ${notKnown} Press again: the same key asks for the same deed.`;
    case "forgotten":
      return `${notKnown} ${forgotten}`;
    case "put_off":
      return notDone;
    default:
      return null;
  }
}

function Asked({ begun }: { begun: Begun }): JSX.Element {
  const { method, path, body } = begun.wanted;
  const terms = body === undefined ? "" : `\n${JSON.stringify(body, null, 2)}`;
  return (
    <details>
      <summary>What was asked for</summary>
      <Code of={`${method} ${path}${terms}`} />
    </details>
  );
}

/** What was begun and is not known to have ended, or was put off. */
export function Unfinished(): JSX.Element {
  return (
    <>
      {useBegun().map((begun) => (
        <Notice
          key={begun.name}
          tone="warn"
          role="region"
          label={begun.name}
          more={begun.deed.state !== "under_way" && <Ways begun={begun} />}
        >
          <strong>{begun.name}</strong>: {told(begun.deed)}
          <Asked begun={begun} />
        </Notice>
      ))}
    </>
  );
}

function Ways({ begun }: { begun: Begun }): JSX.Element {
  return (
    <div class="buttons">
      <button type="button" class="quiet" onClick={() => letGo(begun.name)}>
        Let it be
      </button>
      {mayPress(begun.deed) && (
        <button type="button" class="primary" onClick={() => void finish(begun)}>
          Finish it
        </button>
      )}
    </div>
  );
}

function told(deed: Deed): string {
  if (deed.state === "put_off") return `${notDone} Finishing does it now.`;
  if (deed.state === "forgotten") return `${notKnown} ${forgotten}`;
  if (deed.state !== "doubtful") return "under way.";
  return `${deed.reason} ${notKnown} Finishing asks for the same, under the same key.`;
}

function begunBefore(deed: Deed): string {
  return deed.state === "put_off"
    ? "You began this before."
    : "You began this before, and its end is not known.";
}

interface DeedProps {
  name: string;
  action: string;
  danger?: boolean;
  ask: (key: string) => Change;
  done: (answer: Answer) => void;
  close: () => void;
  children?: ComponentChildren;
}

/** A question of its own before one thing is done. */
export function DeedDialog({ title, ...deed }: DeedProps & { title: string }): JSX.Element {
  return (
    <Dialog title={title} close={deed.close}>
      <DeedForm {...deed} />
    </Dialog>
  );
}

/** A form that does one thing once. Forms of one name share what was begun. */
export function DeedForm(props: DeedProps): JSX.Element {
  const { deed, strange, press } = useDeed(props.name, props.ask, props.done);
  const self = useRef<HTMLFormElement>(null);
  // One that takes the place of a choice in a dialog that is open already.
  useLayoutEffect(() => {
    if (self.current?.closest("dialog")?.open) focusFirst(self.current);
  }, []);
  return (
    <form
      ref={self}
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        press();
      }}
    >
      {strange ? (
        <>
          <p>
            {begunBefore(deed)} {mayPress(deed) && "Finish it, or let it be."}
          </p>
          <Asked begun={strange} />
        </>
      ) : (
        // What was asked for is asked for again: it cannot become something else.
        <fieldset class="form" disabled={isOpen(deed)}>
          {props.children}
        </fieldset>
      )}
      <DeedState deed={deed} />
      {deed.state !== "forgotten" && <SafeToRetry deed={deed} />}
      <div class="buttons">
        {(deed.state === "forgotten" || (strange && mayPress(deed))) && (
          <button type="button" class="quiet" onClick={() => letGo(props.name)}>
            Let it be
          </button>
        )}
        <button type="button" class="quiet" onClick={props.close}>
          Not now
        </button>
        {/* Never disabled, which would take the focus from it; a press too many does nothing. */}
        <button
          type="submit"
          class={props.danger ? "danger" : "primary"}
          aria-busy={deed.state === "under_way"}
          aria-disabled={!mayPress(deed)}
        >
          {deed.state === "under_way" ? "Working…" : strange ? "Finish it" : props.action}
        </button>
      </div>
    </form>
  );
}
