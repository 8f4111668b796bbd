import { useEffect, useState } from "preact/hooks";
import { durationWords } from "../chat/words.ts";

/** How long something has run, updated each second; not read aloud. */
export function Elapsed({ since }: { readonly since: Date }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  // Whole seconds, and never negative: `since` is a time of the server's clock.
  const seconds = Math.max(0, Math.floor((now - since.getTime()) / 1000));
  return (
    <span class="quiet" aria-hidden="true">
      {durationWords(seconds * 1000)}
    </span>
  );
}
