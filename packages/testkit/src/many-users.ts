import {
  type AgentClient,
  connect,
  connectGovernance,
  connectPlans,
  type GovernanceClient,
  type PlanClient,
} from "@gennai/client/connection/connection";
import { temporaryDirectory } from "./temporary-repository.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "./test-server.ts";
import { type IssuedToken, startTokenIssuer, type TokenIssuer, testAudience } from "./token-issuer.ts";

/** One person's way to the server. */
export interface TestUser {
  readonly token: string;
  readonly client: AgentClient;
  readonly governance: GovernanceClient;
  readonly plans: PlanClient;
}

export interface ManyUsersServer extends AsyncDisposable {
  readonly issuer: TokenIssuer;
  readonly server: TestServer;
  /** `<this>/<tenant>/<user>` is where a user works. */
  readonly workspaceRoot: string;
  /** Of the tenant `acme` unless said otherwise. */
  user(token: IssuedToken): Promise<TestUser>;
  withToken(token: string): TestUser;
}

/** A server of many users, whose tokens come from an issuer on the loopback. */
export async function startManyUsersServer(options: TestServerOptions = {}): Promise<ManyUsersServer> {
  await using parts = new AsyncDisposableStack();
  const issuer = parts.use(await startTokenIssuer());
  const workspaces = parts.use(await temporaryDirectory());
  const server = parts.use(
    await startTestServer({
      ...options,
      server: {
        token: undefined,
        workspace: undefined,
        users: {
          workspaceRoot: workspaces.root,
          issuer: issuer.issuer,
          audiences: [testAudience],
          jwks: issuer.jwksUrl.href,
          clockSkew: 0,
          claims: {
            user: "sub",
            tenant: "org",
            roles: "roles",
            adminRole: "gennai-admin",
            approverRole: "gennai-approver",
          },
        },
        ...options.server,
      },
    }),
  );
  const withToken = (token: string): TestUser => {
    const to = { baseUrl: server.url, token };
    return { token, client: connect(to), governance: connectGovernance(to), plans: connectPlans(to) };
  };
  const owned = parts.move();
  return {
    issuer,
    server,
    withToken,
    workspaceRoot: workspaces.root,
    user: async (token) => withToken(await issuer.sign({ tenant: "acme", ...token })),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
