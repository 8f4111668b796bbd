import type { KeyPlan } from "./user-keys.ts";

/**
 * The plan with what is known by now of where its hosts lead: a question that lets a run into one of the machine's own networks has
 * to say so.
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
    uncover: async (options) => {
      const key = await plan.uncover(options);
      // One that was not told about stays closed.
      const hosts = key.hosts.map((one) => (one.host === host && address !== undefined ? { ...one, address } : one));
      return { ...key, hosts };
    },
  };
}
