import type { KeyPlan } from "./user-keys.ts";

/**
 * Adds the known addresses of its hosts to a plan: a question must say if the run may connect into one of the machine's own
 * networks.
 *
 * @param addresses by host
 */
export function withAddresses(plan: KeyPlan, addresses: ReadonlyMap<string, string>): KeyPlan {
  const host = URL.parse(plan.url.includes("://") ? plan.url : `ssh://${plan.url}`)?.hostname ?? "";
  const address = addresses.get(host);
  const login =
    address === undefined ? plan.login : `${plan.login}; ${host} is ${address}, in a network of this machine`;
  return {
    ...plan,
    login,
    uncover: async () => {
      const key = await plan.uncover();
      // An address that was not part of the question stays closed.
      const hosts = key.hosts.map((one) => (one.host === host && address !== undefined ? { ...one, address } : one));
      return { ...key, hosts };
    },
  };
}
