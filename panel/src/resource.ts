// useResource: what a path answers, kept up to date. What was seen last stays until something newer
// has come, so that nothing jumps; an error stands beside it.

import { useCallback, useEffect, useState } from "preact/hooks";

import { ApiError, get } from "./api";

export interface Resource<T> {
  data: T | null;
  error: ApiError | null;
  loading: boolean; // and nothing to show yet
  refresh: () => void;
}

/** `everyMs` 0: once, and when `mark` changes. A path of null asks for nothing. */
export function useResource<T>(path: string | null, everyMs = 0, mark = ""): Resource<T> {
  const [seen, setSeen] = useState<{ path: string | null; data: T | null }>({ path, data: null });
  const [error, setError] = useState<ApiError | null>(null);
  const [asked, setAsked] = useState(0);
  const refresh = useCallback(() => setAsked((n) => n + 1), []);

  useEffect(() => {
    if (path === null) return;
    const leaving = new AbortController();
    let timer = 0;
    const ask = async (): Promise<void> => {
      try {
        const data = await get<T>(path, leaving.signal);
        if (leaving.signal.aborted) return;
        setSeen({ path, data });
        setError(null);
      } catch (reason) {
        if (leaving.signal.aborted) return;
        setError(reason instanceof ApiError ? reason : new ApiError(0, "", String(reason)));
      }
      if (!leaving.signal.aborted) wait();
    };
    // Nobody looks at a page that is hidden.
    const wait = (): void => {
      if (everyMs > 0) timer = window.setTimeout(document.hidden ? wait : ask, everyMs);
    };
    void ask();
    return () => {
      leaving.abort();
      window.clearTimeout(timer);
    };
  }, [path, everyMs, mark, asked]);

  const data = seen.path === path ? seen.data : null;
  return { data, error, loading: data === null && error === null, refresh };
}
