/** Checks that are code, so in no rule file, by the first part of their rules' names. */
export const builtInChecks: readonly { readonly group: string; readonly about: string }[] = [
  {
    group: "floor",
    about: "Commands that lose work or hand it out: git history, disks, recursive deletes, downloads that run",
  },
  { group: "commands", about: "Commands that are not proven to only read, or that cannot be understood" },
  { group: "containment", about: "Files and commands outside the workspace" },
  { group: "control-files", about: "Files that steer the agent, git, builds and installs" },
  { group: "secrets", about: "Files and git history that hold secrets" },
  { group: "branch", about: "Protected branches, and changes of branch during a turn" },
  { group: "git-changes", about: "What a command changed in git's own data" },
  { group: "freshness", about: "Writing over what was not read, or was changed since" },
  { group: "single-writer", about: "Two sessions that write in one working tree" },
  { group: "redaction-marker", about: "Writing a masked text over the secret itself" },
  { group: "intents", about: "Changes outside the scope of the selected intent" },
  { group: "external-tools", about: "Tools of MCP servers that are new or have changed" },
  { group: "project-check", about: "Checks whose command comes from the repository" },
  { group: "checkpoints", about: "Commands before which the files cannot be kept" },
  { group: "high-risk", about: "Everything of high risk" },
];
