import { plural } from "@gennai/protocol/plural";

/** 950 ms, 4.2 s, 3 min 20 s. @param milliseconds not negative */
export function durationWords(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.max(0, Math.round(milliseconds))} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** 940, 1.2k, 34k, 1.5M. */
export function countWords(count: number): string {
  if (count < 1000) return `${count}`;
  if (count < 1_000_000) return `${count < 10_000 ? (count / 1000).toFixed(1) : Math.round(count / 1000)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

/** 512 bytes, 3.4 KB, 1.2 MB. */
export function sizeWords(bytes: number): string {
  if (bytes < 1024) return plural(bytes, "byte");
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
