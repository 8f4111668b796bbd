/** Names of a file path argument in other agents' tools. */
export const filePathNames = {
  path: "file_path",
  filePath: "file_path",
  filepath: "file_path",
  filename: "file_path",
  file: "file_path",
  absolute_path: "file_path",
  target_file: "file_path",
} as const;
