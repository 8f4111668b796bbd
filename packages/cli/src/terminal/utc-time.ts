/**
 * A time in the format of all commands, e.g. `2026-11-26 21:15:15 UTC`; empty if invalid.
 * @param time milliseconds since the epoch, or RFC 3339 in UTC
 */
export function utcTime(time: number | string | Date): string {
  const at = new Date(time);
  return Number.isNaN(at.getTime()) ? "" : `${at.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
