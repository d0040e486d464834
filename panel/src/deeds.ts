// Deeds that were begun and whose end is not known yet. They stand outside of the forms and outlive
// a reload: who closed a form, or had to sign in again, ends what was begun, and begins no other.

import { useEffect, useRef, useState } from "preact/hooks";

import {
  ApiError,
  asError,
  change,
  currentRun,
  renewSession,
  type Answer,
  type Change,
} from "./api";
import {
  isOpen,
  isOutOfTime,
  left,
  mayPress,
  newKey,
  step,
  type Deed,
  type DeedEvent,
} from "./logic/deed";
import { words } from "./logic/format";
import { shared } from "./shared";
import { tell } from "./ui/toast";

export interface Begun {
  name: string; // one at a time has it
  wanted: Change;
  deed: Deed; // under way, doubtful, forgotten or put off
  since: Since;
}

// From when on pawl may know the key: another run of it does not, nor does this one for ever.
interface Since {
  run: string | null;
  at: number;
}

interface End {
  deed: Deed;
  answer: Answer | null;
}

const place = "pawl-deeds";
const begun = shared(restored());
export const useBegun = begun.use;

function restored(): Begun[] {
  try {
    const kept = JSON.parse(window.sessionStorage.getItem(place) ?? "[]") as Begun[];
    return kept.map((each) => ({ ...each, deed: left(each.deed) }));
  } catch {
    return []; // a browser that keeps nothing
  }
}

function put(next: Begun[]): void {
  try {
    window.sessionStorage.setItem(place, JSON.stringify(next));
  } catch {
    // They are there until the page is left.
  }
  begun.set(next);
}

const others = (name: string): Begun[] => begun.get().filter((each) => each.name !== name);
const find = (name: string): Begun | undefined =>
  begun.get().find((each) => each.name === name);

/** Whoever lets it go means something else by the next press. */
export function letGo(name: string): void {
  put(others(name));
}

function freshKey(): string {
  return newKey((bytes) => void window.crypto.getRandomValues(bytes));
}

// Null: it is under way already.
async function send(name: string, wanted: Change, from: Deed): Promise<End | null> {
  if (!mayPress(from)) return null;
  const deed = step(from, { type: "pressed" });
  const before = from.state === "doubtful" ? find(name)?.since : undefined;
  let since = before ?? { run: currentRun(), at: Date.now() };
  const keep = (now: Deed): void => put([...others(name), { name, wanted, deed: now, since }]);
  keep(deed);
  if (before && !wanted.outlives && isOutOfTime(before.at, Date.now())) {
    const end: End = { deed: step(deed, { type: "forgotten" }), answer: null };
    keep(end.deed);
    return end;
  }
  const ask = (): Promise<Answer> =>
    change({ ...wanted, key: deed.key, run: wanted.outlives ? null : since.run });
  const end = await ask()
    .catch(async (error: unknown) => {
      if (before || !asError(error).isForgotten) throw error;
      // Nothing was sent under this key before: in the new run it is as good as in the old one.
      await renewSession();
      since = { run: currentRun(), at: Date.now() };
      return ask();
    })
    .then(
      (answer): End => ({
        deed: step(deed, { type: "answered", replayed: answer.replayed }),
        answer,
      }),
      (error: unknown): End => ({ deed: step(deed, eventOf(error)), answer: null }),
    );
  if (isOpen(end.deed)) keep(end.deed);
  else put(others(name));
  return end;
}

function eventOf(error: unknown): DeedEvent {
  const reason = error instanceof Error ? error.message : String(error);
  if (!(error instanceof ApiError) || error.isLost) return { type: "lost", reason };
  if (error.isForgotten) return { type: "forgotten" };
  if (error.status === 401) return { type: "signed_out", reason };
  return { type: "refused", reason, isVerdict: error.isVerdict, nextKey: freshKey() };
}

// The form is gone: its end is told all the same.
function report(name: string, { deed, answer }: End): void {
  if (deed.state === "refused") tell(`${name}: ${deed.reason}`, "bad");
  if (answer === null) return;
  const { body } = answer;
  const told = body !== null && typeof body === "object" && !Array.isArray(body) ? body : {};
  // Of a change: what the order is at the venue now. Its status says that it was placed.
  const status = "answer" in told ? told["life"] : told["status"];
  tell(`${name}: ${typeof status === "string" ? words(status) : "done"}.`, "plain");
}

/** Asks for it again, under its key. */
export async function finish({ name, wanted, deed }: Begun): Promise<void> {
  const end = await send(name, wanted, deed);
  if (end) report(name, end);
}

interface DeedHandle {
  deed: Deed;
  strange: Begun | null; // what another form of this name began
  press: () => void;
}

/** `ask` says what is wanted, with the deed's key in it where it needs one. */
export function useDeed(
  name: string,
  ask: (key: string) => Change,
  done: (answer: Answer) => void,
): DeedHandle {
  const open = useBegun().find((each) => each.name === name);
  const [own, setOwn] = useState<Deed>(() => ({ state: "ready", key: freshKey() }));
  const asked = useRef<Change | null>(null);
  const isThere = useRef(true);
  useEffect(() => () => void (isThere.current = false), []);
  const press = async (): Promise<void> => {
    // As it is now, not as it was drawn: a second click comes before anything is.
    const now = find(name);
    asked.current = now?.wanted ?? ask(own.key);
    setOwn({ state: "ready", key: freshKey() });
    const end = await send(name, asked.current, now?.deed ?? own);
    if (end === null) return;
    if (!isThere.current) return report(name, end);
    if (!isOpen(end.deed)) setOwn(end.deed);
    if (end.answer) done(end.answer);
  };
  return {
    deed: open?.deed ?? own,
    strange: open && open.wanted !== asked.current ? open : null,
    press: () => void press(),
  };
}
