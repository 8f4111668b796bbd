import { useEffect, useState } from "preact/hooks";

/** Time until a deadline, in words; empty without one. Screen readers are not told of changes: they would drown the question. */
export function Countdown({
  deadline,
  now = Date.now,
}: {
  readonly deadline: Date | undefined;
  readonly now?: () => number;
}) {
  const [, tick] = useState(0);
  useEffect(() => {
    if (deadline === undefined) return undefined;
    const timer = setInterval(() => tick((count) => count + 1), 1000);
    return () => clearInterval(timer);
  }, [deadline]);
  if (deadline === undefined) return null;
  const seconds = Math.ceil((deadline.getTime() - now()) / 1000);
  return (
    <span class={seconds < 30 ? "countdown countdown-soon" : "countdown"} role="timer" aria-live="off">
      {seconds <= 0 ? "Expired" : `Expires in ${wordFor(seconds)}`}
    </span>
  );
}

function wordFor(seconds: number): string {
  if (seconds >= 90 * 60) return `${Math.round(seconds / 3600)} h`;
  return seconds >= 90 ? `${Math.round(seconds / 60)} min` : `${seconds} s`;
}
