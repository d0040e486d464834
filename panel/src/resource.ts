// useResource: what a path answers, kept up to date. What was seen last stays until something newer
// has come, so that nothing jumps; an error stands beside it.

import { useCallback, useEffect, useState } from "preact/hooks";

import { get, type ApiError } from "./api";
import { whileSeen } from "./while_seen";

export interface Resource<T> {
  data: T | null;
  error: ApiError | null;
  refresh: () => void;
}

/** `everyMs` 0: once, and when `mark` changes; what is not there is asked for once too. A path of
 * null asks for nothing. */
export function useResource<T>(path: string | null, everyMs = 0, mark = ""): Resource<T> {
  const [seen, setSeen] = useState<{ path: string | null; data: T | null }>({ path, data: null });
  const [error, setError] = useState<ApiError | null>(null);
  const [asked, setAsked] = useState(0);
  const refresh = useCallback(() => setAsked((n) => n + 1), []);

  useEffect(() => {
    if (path === null) return;
    let isThere = true;
    return whileSeen({
      ask: async (signal) => {
        const data = await get<T>(path, signal);
        setSeen({ path, data });
        setError(null);
      },
      failed: (failed) => {
        isThere = failed.status !== 404;
        setError(failed);
      },
      waitMs: () => (isThere ? everyMs : 0),
    });
  }, [path, everyMs, mark, asked]);

  const data = seen.path === path ? seen.data : null;
  return { data, error, refresh };
}
