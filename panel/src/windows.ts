// The windows of one browser share a session: who signs out in one is told so in the others.

const channel = new BroadcastChannel("pawl-signed-out"); // one: it does not hear itself

export function tellOthers(): void {
  channel.postMessage(null);
}

/** Until the function it returns is called. */
export function onSignOutElsewhere(then: () => void): () => void {
  channel.onmessage = then;
  return () => void (channel.onmessage = null);
}
