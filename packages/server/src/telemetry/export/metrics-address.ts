import { isIP } from "node:net";
import type { ListenAddress } from "../../http/listen/listen-address.ts";
import { TelemetryError } from "./telemetry-settings.ts";

/** `9464`, `127.0.0.1:9464`, `[::1]:9464`, `0.0.0.0:9464`; without a host, the loopback. Throws `TelemetryError`. */
export function parseMetricsAddress(text: string): ListenAddress & { readonly type: "tcp" } {
  const [, bracketed, plain, digits = ""] = /^(?:\[([^\]]+)\]:|([^:[\]]+):)?(\d{1,5})$/.exec(text) ?? [];
  const port = digits === "" ? -1 : Number(digits);
  const host = bracketed ?? plain ?? "127.0.0.1";
  const isHost = bracketed === undefined ? /^[A-Za-z0-9.-]+$/.test(host) : isIP(bracketed) === 6;
  if (port < 0 || port > 65_535 || !isHost) {
    throw new TelemetryError(
      `--metrics: ${JSON.stringify(text)} is not an address: for example 9464, or 0.0.0.0:9464 for other machines.`,
      { hint: "Leave it out for none." },
    );
  }
  return { type: "tcp", host, port };
}
