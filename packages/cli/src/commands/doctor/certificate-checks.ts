import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { connect, type DetailedPeerCertificate } from "node:tls";
import type { Check, Finding } from "@gennai/machine/finding";

/** Start and end of the time in which a whole chain of certificates is valid. */
interface Validity {
  readonly from: Date;
  readonly until: Date;
}

const day = 24 * 60 * 60 * 1_000;
/** Long enough before the end that a person can renew it in working hours. */
const warnedBefore = 30 * day;

/** Checks how long certificates are valid: those that servers show at `https:` addresses, and the one in a file. */
export function certificateChecks(places: {
  readonly urls: readonly string[];
  /** PEM with the chain. */
  readonly file?: string;
}): readonly Check[] {
  const { urls, file } = places;
  const served = urls.filter((url) => new URL(url).protocol === "https:");
  return [
    ...served.map((url): Check => {
      const next = "Renew the certificate; the server reads its files again at SIGHUP.";
      return check(async (signal) => certificateFinding(url, await servedValidity(url, signal), Date.now(), next));
    }),
    ...(file === undefined
      ? []
      : [check(async () => certificateFinding(file, await validityIn(file), Date.now(), `Renew ${file}.`))]),
  ];
}

function check(run: (signal: AbortSignal) => Promise<Finding>): Check {
  return { name: "certificate", run };
}

/** @param now milliseconds since the epoch */
export function certificateFinding(where: string, { from, until }: Validity, now: number, next: string): Finding {
  const about = { check: "certificate", next: [next] };
  const left = until.getTime() - now;
  if (left <= 0) return { ...about, state: "fail", text: `${where}: expired on ${date(until)}` };
  if (from.getTime() > now) return { ...about, state: "fail", text: `${where}: not in force before ${date(from)}` };
  const text = `${where}: in force until ${date(until)}`;
  if (left > warnedBefore) return { check: about.check, state: "ok", text };
  const days = Math.floor(left / day);
  return { ...about, state: "warn", text: `${text}, ${days === 1 ? "1 day" : `${days} days`} from now` };
}

function date(time: Date): string {
  return time.toISOString().slice(0, 10);
}

/** Nothing is sent to the server, so that it need not be trusted yet. */
async function servedValidity(url: string, signal: AbortSignal): Promise<Validity> {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const named = /^[\d.]+$|:/.test(host) ? {} : { servername: host };
  const socket = connect({ host, port: Number(port || 443), rejectUnauthorized: false, ...named });
  const stop = (): void => void socket.destroy(new Error(`${url} shows no certificate.`));
  signal.addEventListener("abort", stop, { once: true });
  try {
    await new Promise((resolve, reject) => socket.once("secureConnect", resolve).once("error", reject));
    return narrowest(chainOf(socket.getPeerCertificate(true)));
  } finally {
    signal.removeEventListener("abort", stop);
    socket.destroy();
  }
}

function chainOf(leaf: DetailedPeerCertificate): readonly Validity[] {
  const seen = new Map<string, Validity>();
  let next: DetailedPeerCertificate | undefined = leaf;
  while (next !== undefined && !seen.has(next.fingerprint256)) {
    seen.set(next.fingerprint256, { from: new Date(next.valid_from), until: new Date(next.valid_to) });
    next = next.issuerCertificate;
  }
  return [...seen.values()];
}

async function validityIn(file: string): Promise<Validity> {
  const pem = await readFile(file, "utf8");
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new Error(`${file} holds no certificate in PEM.`);
  return narrowest(
    blocks.map((block) => {
      const { validFromDate, validToDate } = new X509Certificate(block);
      return { from: validFromDate, until: validToDate };
    }),
  );
}

function narrowest(chain: readonly Validity[]): Validity {
  return {
    from: new Date(Math.max(...chain.map(({ from }) => from.getTime()))),
    until: new Date(Math.min(...chain.map(({ until }) => until.getTime()))),
  };
}
