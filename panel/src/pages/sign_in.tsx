// The token of server.admin.token gets one in. It is sent once, and kept nowhere: a cookie that
// scripts cannot read stands for it.

import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";

import { ApiError, change } from "../api";
import type { Session } from "../logic/types";
import { Notice } from "../ui/basics";

const wrong = "That is not the token.";

/** Why whoever was signed in is not any more; "": nobody was, or they wanted it so. */
export type SignedOut = "" | "over" | "elsewhere";

const reasons: { [why in Exclude<SignedOut, "">]: string } = {
  over: "Your session is over. Sign in again: you come back to where you were.",
  elsewhere: "You were signed out in another window.",
};

export function SignIn(props: {
  why: SignedOut;
  entered: (session: Session) => void;
}): JSX.Element {
  const [token, setToken] = useState("");
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const enter = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (busy) return;
    // No header has such letters, and no token: it cannot even be sent.
    if (/[^\t -\xff]/.test(token)) {
      field.current?.select();
      return setError(wrong);
    }
    setBusy(true);
    try {
      const answer = await change({ method: "POST", path: "/v1/session", bearer: token });
      setToken("");
      props.entered(answer.body as unknown as Session);
    } catch (reason) {
      setError(wordsOf(reason));
      field.current?.select(); // to be written anew
    } finally {
      setBusy(false);
    }
  };
  return (
    <main class="alone">
      <form class="card sign-in" onSubmit={(event) => void enter(event)}>
        <div class="brand">
          <img src="icon.svg" alt="" width="32" height="32" />
          pawl
        </div>
        <h1>Sign in</h1>
        {props.why && (
          <Notice tone="plain" role="status">
            {reasons[props.why]}
          </Notice>
        )}
        <p class="faint">
          With the token that <code>server.admin.token</code> holds.
        </p>
        {/* A name for password managers; there is one operator. */}
        <input
          class="hidden"
          type="text"
          autocomplete="username"
          value="pawl"
          tabIndex={-1}
          aria-hidden="true"
          readOnly
        />
        <label class="field">
          <span>Token</span>
          <input
            ref={field}
            type="password"
            name="token"
            autocomplete="current-password"
            required
            autofocus
            spellcheck={false}
            value={token}
            aria-describedby="sign-in-error"
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </label>
        <div id="sign-in-error" role="alert">
          {error && <Notice tone="bad">{error}</Notice>}
        </div>
        <button type="submit" class="primary" aria-busy={busy} aria-disabled={busy}>
          Sign in
        </button>
      </form>
    </main>
  );
}

function wordsOf(reason: unknown): string {
  if (!(reason instanceof ApiError)) return String(reason);
  if (reason.status === 401) return wrong;
  return reason.message;
}
