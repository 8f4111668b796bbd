import { type AdmissionLimits, defaultLimits } from "@gennai/server/admission/limits";
import type { Command } from "commander";
import type { CommandHost } from "../command-host.ts";
import { collect, commandsOption, modelOptions, protectOption } from "../options/shared-options.ts";

export function registerServeCommand(program: Command, { runs }: CommandHost): void {
  const serve = program.command("serve").description("start a server with the web UI, for editors and for gennai run");
  commandsOption(modelOptions(protectOption(serve)))
    .option("--port <number>", "port to listen on; 0 takes any free one", "7777")
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option(
      "--rina-port <number>",
      "second port, for the RinaWarp extension; on 127.0.0.1 and without a token, e.g. 8787",
    )
    .option(
      "--log <address>",
      "log that several servers share, e.g. nats://a:4222,b:4222,c:4222 (default: this machine)",
    )
    .option("--workspace <dir>", "directory of sessions that name none (default: here)")
    .option("--auth-token", "print the token once at start-up")
    .option("--auth-token-file <file>", "use the token in this file (0600) instead of a fresh one")
    .option("--auth <how>", "token: one token, yours; oidc: a token for each of many users (default: token)")
    .option("--no-auth", "ask no token of anyone on this machine")
    .option(
      "--allow-origin <origin>",
      "web page that may use this server, e.g. https://app.example; repeatable",
      collect,
    )
    .option("--allow-host <host>", "another value of Host to answer to, e.g. box.lan:7777; repeatable", collect)
    .option("--shared", "let editors find it for other folders of yours, too")
    .option("--open", "open the page in a browser")
    .option("--metrics <address>", "serve metrics for Prometheus there, e.g. 9464, or 0.0.0.0:9464 for other machines")
    .option("--log-format <format>", "text: for people; json: an object a line, for machines", "text")
    .option("--log-level <level>", "debug, info, warn or error: what is less is left out", "info")
    .option("--drain <seconds>", "on SIGTERM, how long turns under way may go on before they are stopped", "0")
    .option("--quit-with-stdin", "end when standard input does: with the program that started it")
    .option("--quit-when-idle <minutes>", "end after this long without a call or running work (default: never)");
  securityOptions(serve)
    .addHelpText("after", serveHelp)
    .action(runs(async () => (await import("./serve-command.ts")).serveCommand));
}

/** Options for access, encryption, and how much of the server each user may take. */
function securityOptions(command: Command): Command {
  return command
    .option("--tls-cert <file>", "PEM: encrypt with this certificate and its chain; SIGHUP reads it again")
    .option("--tls-key <file>", "PEM: its key, in a file (0600)")
    .option("--behind-proxy", "a proxy before this server encrypts; needed with --host where there is no --tls-cert")
    .option("--issuer <url>", "with --auth oidc: who issues the tokens, exactly as the tokens name it")
    .option("--audience <name>", "with --auth oidc: what tokens for this server name as theirs; repeatable", collect)
    .option("--jwks <url|file>", "the issuer's public keys (default: where the issuer says they are)")
    .option("--workspace-root <dir>", "users work in DIR/<tenant>/<user>, and nowhere else")
    .option("--user-claim <name>", "where a token names the user (default: sub)")
    .option(
      "--tenant-claim <name>",
      "where a token names the tenant, e.g. org or realm.name (default: one tenant for all)",
    )
    .option("--roles-claim <name>", "where a token lists roles, e.g. realm_access.roles (default: roles)")
    .option("--admin-role <name>", "the role that makes an admin of the tenant (default: no role does)")
    .option("--approver-role <name>", "the role of those who agree as the second person (default: no role does)")
    .option("--max-calls-per-second <n>", limit("of one user", "callsPerSecond"))
    .option("--max-turns-per-user <n>", limit("turns that one user runs at once", "turnsPerUser"))
    .option("--max-turns-per-tenant <n>", limit("turns of one tenant", "turnsPerTenant"))
    .option("--max-turns <n>", limit("turns of all", "turns"))
    .option("--max-sessions-per-user <n>", limit("sessions of one user that are open", "sessionsPerUser"))
    .option("--max-sessions <n>", limit("sessions of all that are open", "sessions"))
    .option("--max-streams-per-user <n>", limit("event streams of one user", "streamsPerUser"))
    .option("--max-tenants <n>", limit("tenants that are open", "tenants"))
    .option(
      "--tree-wait <seconds>",
      `how long a turn waits while another session writes to its tree (default: ${defaultLimits.treeWaitMs / 1000})`,
    )
    .option(
      "--slow-reader <seconds>",
      `how long a client may leave its stream unread (default: ${defaultLimits.slowReaderMs / 1000})`,
    );
}

function limit(what: string, name: keyof AdmissionLimits): string {
  return `${what} (default: ${defaultLimits[name]})`;
}

const serveHelp = `
The token is made afresh and kept in a file only you can read; GENNAI_AUTH_TOKEN or --auth-token-file set your own.
`;
