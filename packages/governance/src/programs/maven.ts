import type { LoginTable, Program } from "./program.ts";

const settings = ".m2/settings.xml";
const table = (at: string, fields: LoginTable["fields"]): LoginTable => ({
  from: `~/${settings}`,
  form: "elements",
  at,
  fields,
});
const files =
  /^(?:[\w.-]+\/)+(?:maven-metadata\.xml|(?=[\w.+]*-)[\w.+-]+\.(?:pom|jar|war|ear|aar|zip|tar\.gz|module))(?:\.(?:md5|sha(?:1|256|512)|asc))?$/;
const address = { address: "url" };

/** Plugins run in it that it fetches: no answer for its connections lasts. Its settings name the address of a login, or it has none. */
export const maven: Program = {
  names: "mvn",
  tasks: true,
  hosts: "repo.maven.apache.org",
  settings,
  // Not `properties`, nor the property that switches a profile on: they hold anything.
  shownSettings: [
    "settings localRepository interactiveMode offline pluginGroups pluginGroup activeProfiles activeProfile",
    "mirrors mirror mirrorOf mirrorOfLayouts blocked id name url layout",
    "profiles profile activation activeByDefault jdk os family arch version file exists missing",
    "repositories repository pluginRepositories pluginRepository releases snapshots enabled updatePolicy checksumPolicy",
  ].join(" "),
  registry: {
    logins: [
      table("servers server", { user: "username", password: "password" }),
      table("profiles profile repositories repository", address),
      table("profiles profile pluginRepositories pluginRepository", address),
      table("mirrors mirror", address),
    ],
    reads: files,
    publishes: { method: "PUT", path: files, form: "files" },
  },
  valued: "-s -gs -f -P -pl -rf -T -t --settings --global-settings --file --activate-profiles --projects --resume-from",
  otherwise: { login: true },
  deploys: { anyOperand: /(?:^|:)(?:deploy|publish|release)|publish|upload(?:archives)?$/i },
};
