/** The file that `gennai intents init` writes. Its intent cannot be selected until a person changes its status. */
export const firstIntents = `# Intents: pieces of work that a person authorised, and the paths that each may change.
# Only an intent whose status is active (or in_progress) can be selected.
active_intents:
  - id: INT-001
    name: Say what this work is about
    status: draft
    # Globs relative to the workspace; a plain directory means all below it, "!glob" excludes and wins.
    owned_scope:
      - "src/**"
    constraints:
      - Say what must not happen
    acceptance_criteria:
      - Say how to tell that it is done
`;
