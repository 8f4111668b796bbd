import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { registryAddress } from "../login/npm-settings.ts";
import { settingsText } from "../login/settings-text.ts";
import type { UserKeys } from "../login/user-keys.ts";
import { authorizationIn, expanded, fromBase64, npmPlace } from "./npm-places.ts";
import type { RegistryAccess } from "./registry-login.ts";

const text = z.string().optional().catch(undefined);
const login = z.object({ npmRegistryServer: text, npmAuthToken: text, npmAuthIdent: text });
const byName = z.record(z.string(), login).optional().catch(undefined);
const settings = login.extend({ npmScopes: byName, npmRegistries: byName });

const usual = "https://registry.yarnpkg.com";

/** Logins in `~/.yarnrc.yml`, which yarn reads from version 2 on. */
export function yarnPlaces({ home, environment }: UserKeys): readonly RegistryAccess[] {
  const found = settings.safeParse(parsed(settingsText(join(home, ".yarnrc.yml")))).data;
  if (found === undefined) return [];
  const { npmScopes = {}, npmRegistries = {}, ...top } = found;
  const own = [top, ...Object.values(npmScopes)];
  const servers = own.map(({ npmRegistryServer = usual }) => expanded(npmRegistryServer, environment));
  const named = Object.entries(npmRegistries).flatMap(([name, one]) => {
    const below = servers.filter((server) => server.replace(/^https?:/, "").startsWith(name));
    return (below.length > 0 ? below : [/^https?:/.test(name) ? name : `https:${name}`]).map((server) => ({
      ...one,
      server,
    }));
  });
  const all = [...own.map((one, at) => ({ ...one, server: servers[at] })), ...named];
  return all.flatMap(({ server, npmAuthToken = "", npmAuthIdent = "" }) => {
    const url = registryAddress(server);
    const ident = expanded(npmAuthIdent, environment);
    const said = authorizationIn({
      token: expanded(npmAuthToken, environment),
      pair: ident === "" || ident.includes(":") ? ident : fromBase64(ident),
    });
    if (url === undefined || said === undefined) return [];
    const place = npmPlace(url, `the login of ~/.yarnrc.yml for ${url.host}`, said);
    // It outranks the files that a run sees, which have none.
    const inRun = (placeholder: string) => ({ environment: { YARN_NPM_AUTH_TOKEN: placeholder } });
    return [server === servers[0] ? { ...place, inRun } : place];
  });
}

function parsed(yaml: string): unknown {
  try {
    return parse(yaml, { logLevel: "silent" });
  } catch {
    return undefined;
  }
}
