import { isSelfHosted, type Provider } from "@gennai/protocol/model/session/backend";
import type { SessionSettings } from "@gennai/protocol/model/session/session-settings";
import { providers } from "../providers.ts";
import type { KnownModels } from "./model-facts.ts";

/** Where a key would go, and which keys may. */
export interface KeyDestination {
  /** Scheme, host and port. */
  readonly origin: string;
  /** The provider's own place, or one that the person who runs the server named. Keys that were set for no address in particular are for these. */
  readonly isKnown: boolean;
  /** Keys of the server's environment and keychain may go there as well. */
  readonly takesServersKeys: boolean;
  /**
   * So may the environment's key that names no provider. Of the providers' own places it is for that of the server's default settings
   * alone: nobody else said whose key it is.
   */
  readonly takesGeneralKey: boolean;
}

/**
 * What may be sent to an address. undefined: it is not an address, and gets no key.
 * @param defaults of the server
 * @param handedKeyOnly a person typed the address: keys of the server itself go there only where it is a known one
 */
export function keyDestination(
  { backend, baseUrl }: { readonly backend: Provider; readonly baseUrl: string },
  {
    defaults,
    known,
    handedKeyOnly,
  }: {
    readonly defaults: Pick<SessionSettings, "backend" | "baseUrl">;
    readonly known: Pick<KnownModels, "isNamed">;
    readonly handedKeyOnly: boolean;
  },
): KeyDestination | undefined {
  const origin = originOf(baseUrl);
  if (origin === undefined) return undefined;
  const isDefault = backend === defaults.backend && origin === originOf(defaults.baseUrl || providers[backend].baseUrl);
  // Any program of this machine can listen at the usual address of a self-hosted server.
  const isProviders = !isSelfHosted(backend) && origin === originOf(providers[backend].baseUrl);
  // Any program may listen at the default address of a self-hosted server, until an operator has named it.
  const isNamed = (isDefault && (isProviders || defaults.baseUrl !== "")) || known.isNamed(baseUrl);
  const isKnown = isProviders || isNamed;
  const takesServersKeys = isKnown || !handedKeyOnly;
  const isUsual = origin === originOf(providers[backend].baseUrl);
  const takesGeneralKey = isUsual && !known.isNamed(baseUrl) ? isDefault && takesServersKeys : takesServersKeys;
  return { origin, isKnown, takesServersKeys, takesGeneralKey };
}

/** undefined for what is not an http or https address. */
export function originOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, origin } = new URL(url);
  return protocol === "http:" || protocol === "https:" ? origin : undefined;
}
