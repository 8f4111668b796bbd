import { type Endpoint, isLoopback, sameEndpoint } from "@gennai/governance/endpoint";
import type { AddedLogin, AskToSend } from "./added-login.ts";
import type { ConnectionFilter } from "./connection-filter.ts";
import { LoginGateway } from "./login-gateway.ts";
import type { RunCertificates } from "./run-authority.ts";

/** Where this process answers a run in place of hosts, and the authority whose certificates it uses there. */
export class LoginGateways implements Disposable {
  /** In PEM; undefined if no host has TLS. */
  readonly authority: string | undefined;
  readonly #gateways: readonly LoginGateway[];

  private constructor(gateways: readonly LoginGateway[], authority: string | undefined) {
    this.#gateways = gateways;
    this.authority = authority;
  }

  static async open(logins: readonly AddedLogin[], filter: ConnectionFilter, ask: AskToSend): Promise<LoginGateways> {
    const secured = logins.filter(({ isTls }) => isTls).map(({ endpoint }) => endpoint);
    const names = secured.flatMap((endpoint) =>
      isLoopback(endpoint) ? [endpoint.host, "localhost", "127.0.0.1", "::1"] : [endpoint.host],
    );
    const certificates = names.length === 0 ? undefined : await certificatesFor([...new Set(names)]);
    const gateways = logins.map(
      (login) => new LoginGateway(login, filter, ask, login.isTls ? certificates : undefined),
    );
    return new LoginGateways(gateways, certificates?.authority);
  }

  to(endpoint: Endpoint): LoginGateway | undefined {
    return this.#gateways.find(({ login }) => sameEndpoint(login.endpoint, endpoint));
  }

  [Symbol.dispose](): void {
    for (const gateway of this.#gateways) gateway[Symbol.dispose]();
  }
}

/** Loaded only for a run with a login, because it needs a library. */
async function certificatesFor(names: readonly string[]): Promise<RunCertificates> {
  const { makeRunCertificates } = await import("./run-authority.ts");
  return makeRunCertificates(names);
}
