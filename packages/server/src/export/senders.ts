import { open, readFile } from "node:fs/promises";
import * as net from "node:net";
import { hostname } from "node:os";
import * as tls from "node:tls";
import type { ExportDestination } from "@gennai/governance/limits/export-schema";
import { errorMessage } from "@gennai/protocol/error-message";
import type { Delivery, ExportItem, Sender } from "./delivery.ts";
import { postBatch } from "./post-batch.ts";

/** The way to a destination; code of OTLP is loaded only where it is used. */
export async function senderTo(destination: ExportDestination, version: string): Promise<Sender> {
  switch (destination.to) {
    case "otlp":
      return (await import("./otlp-sender.ts")).otlpSender(destination, version);
    case "webhook":
      return webhookSender(destination);
    case "file":
      return fileSender(destination.endpoint);
    case "syslog":
      return syslogSender(destination);
  }
}

function webhookSender(destination: ExportDestination): Sender {
  const url = new URL(destination.endpoint);
  return {
    async send(batch, signal) {
      const body = Buffer.from(batch.map(({ line }) => `${line}\n`).join(""));
      return (await postBatch(destination, { url, type: "application/x-ndjson", body, signal })).delivery;
    },
  };
}

/** Lines that are on the disk before they count as taken. A line that a kill cut off is ended first. */
function fileSender(path: string): Sender {
  return {
    async send(batch, signal) {
      try {
        await using file = await open(path, "a+", 0o600);
        const { size } = await file.stat();
        const last = Buffer.alloc(1);
        if (size > 0) await file.read(last, 0, 1, size - 1);
        const torn = size > 0 && last.toString() !== "\n";
        await file.appendFile((torn ? "\n" : "") + batch.map(({ line }) => `${line}\n`).join(""));
        await file.datasync();
        return { type: "taken" };
      } catch (error) {
        signal.throwIfAborted();
        return { type: "later", why: errorMessage(error) };
      }
    },
  };
}

const levels = { INFO: 6, WARN: 4, ERROR: 3 } as const;
/** Log audit. */
const facility = 13;

/** RFC 5424 with octet counting (RFC 6587), over TCP or TLS. Syslog confirms nothing: taken is what the receiver's side closed on. */
function syslogSender(destination: ExportDestination): Sender {
  const url = new URL(destination.endpoint);
  const isTls = url.protocol === "tls:";
  const machine = hostname().replaceAll(/[^\x21-\x7E]/g, "-") || "-";
  const framed = ({ record, line }: ExportItem): Buffer => {
    const { severity, name, time } = record;
    const kind = name.slice("gennai.ledger.".length);
    const head = `<${facility * 8 + levels[severity]}>1 ${new Date(time).toISOString()} ${machine} gennai ${process.pid} ${kind} - `;
    const message = Buffer.from(head + line);
    return Buffer.concat([Buffer.from(`${message.length} `), message]);
  };
  return {
    async send(batch, signal) {
      try {
        const ca = destination.ca_file === undefined ? undefined : await readFile(destination.ca_file);
        const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
        const place = { host, port: Number(url.port) };
        const named = net.isIP(host) === 0 ? { servername: host } : {};
        const socket = isTls ? tls.connect({ ...place, ...named, ca }) : net.connect(place);
        return await delivered(socket, Buffer.concat(batch.map(framed)), signal);
      } catch (error) {
        signal.throwIfAborted();
        return { type: "later", why: errorMessage(error) };
      }
    },
  };
}

function delivered(socket: net.Socket, bytes: Buffer, signal: AbortSignal): Promise<Delivery> {
  return new Promise((resolve, reject) => {
    const stop = (): void => void socket.destroy(new Error("it was stopped"));
    signal.addEventListener("abort", stop, { once: true });
    socket.once("error", reject);
    socket.once("close", (failed) => {
      signal.removeEventListener("abort", stop);
      if (!failed) resolve({ type: "taken" });
    });
    socket.resume();
    socket.end(bytes);
  });
}
