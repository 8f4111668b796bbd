import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { AllowedEndpoint } from "@gennai/governance/connection";
import { findBubblewrap } from "@gennai/machine/host/find-bubblewrap";
import { systemProgram } from "@gennai/stage/transaction/system-program";
import { resolverSettings, WatchedNetwork } from "#network/watched-network";
import type { Outside } from "#network/way-out";

/** Says what it got, and closes when it has got a line. */
export async function lineServer(address = "127.0.0.1"): Promise<Server & { readonly got: string[] }> {
  const got: string[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", (bytes) => {
      got.push(bytes.toString());
      socket.end(`got ${bytes.toString().trim()}\n`);
    });
  });
  server.listen(0, address);
  await once(server, "listening");
  return Object.assign(server, { got });
}

/** Programs in a watched network, without a stage. */
export class WatchedFixture implements Disposable {
  readonly watched: WatchedNetwork;
  readonly bubblewrap: string;
  readonly #resolver: string;

  private constructor(watched: WatchedNetwork, bubblewrap: string) {
    this.watched = watched;
    this.bubblewrap = bubblewrap;
    this.#resolver = join(mkdtempSync(join(tmpdir(), "gennai-watched-")), "resolv.conf");
    writeFileSync(this.#resolver, resolverSettings);
  }

  static async open(outside: Outside, allowed: readonly AllowedEndpoint[] = []): Promise<WatchedFixture> {
    const bubblewrap = findBubblewrap();
    if (bubblewrap === undefined) throw new Error("These tests need bubblewrap.");
    return new WatchedFixture(await WatchedNetwork.open({ bubblewrap, allowed, outside }), bubblewrap);
  }

  async run(command: string, ports: readonly number[] = []) {
    using use = await this.watched.use(ports);
    const { network, environment } = this.watched;
    const { joinArguments } = network;
    const child = spawn(
      systemProgram("nsenter"),
      [
        ...[...joinArguments, "--", this.bubblewrap, "--dev-bind", "/", "/"],
        ...["--ro-bind", this.#resolver, "/etc/resolv.conf", "--", "/bin/sh", "-c", command],
      ],
      { env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", HOME: "/nonexistent", ...environment } },
    );
    const [out, err] = [text(child.stdout), text(child.stderr)];
    const [code] = (await once(child, "close")) as [number];
    return { code, output: (await out) + (await err), connections: use.connections(), lookedUp: use.onlyLookedUp() };
  }

  [Symbol.dispose](): void {
    this.watched[Symbol.dispose]();
  }
}
