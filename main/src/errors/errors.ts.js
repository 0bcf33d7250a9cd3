import { constants } from "node:os";
import { isMap, isProxy, isUint8Array } from "node:util/types";
export class MetainfoError extends Error {
  /** The name of the class. */
  name = "MetainfoError";
  /** The stable code: see {@link ERROR_CODES}. */
  code;
  /** The file or folder that the error is about, if any. */
  path;
  /** The option that the message names, with the value that it advises: `{ force: true }`. Null where it names no value. */
  option;
  /**
   * Makes an error.
   *
   * @param code The stable code.
   * @param message What happened, to what, and what to do next.
   */
  constructor(code, message, { path, cause, option } = {}) {
    super(message, cause === void 0 ? void 0 : { cause });
    this.code = code;
    if (path !== void 0) this.path = path;
    if (option !== void 0) this.option = option;
  }
}
const MAX_IN_MESSAGE = 10;
export class ValidationError extends MetainfoError {
  name = "ValidationError";
  /** All issues, errors before warnings. At most 1,000 of each severity are listed. */
  issues;
  /** The kind of data that was validated. */
  subject;
  /**
   * Makes an error whose message has the first ten errors of `issues`.
   *
   * @throws {MetainfoError} `ERR_INVALID_ARGUMENT` when `issues` is not a list of issues
   */
  constructor(issues, subject = "torrent") {
    super("ERR_VALIDATION", sentence(`This ${subject} is not valid: ${summaryOf(issues)}`));
    this.issues = issues;
    this.subject = subject;
  }
}
export function optionText(name, value) {
  if (value === null) return name;
  if (name === "limits") return `limits: { ${value}: N }`;
  return `${name}: ${typeof value === "string" ? `'${value}'` : value}`;
}
export function sentence(text) {
  return text.endsWith("?") ? text : `${text}.`;
}
function summaryOf(issues) {
  try {
    const errors = issues.filter(({ severity }) => severity === "error");
    const lines = errors.slice(0, MAX_IN_MESSAGE).map((issue) => `${issue.path.join(".") || "top level"}: ${issue.message}`);
    const more = errors.length - lines.length;
    return `${lines.join("; ")}${more > 0 ? `; and ${more} more` : ""}`;
  } catch (cause) {
    throw new MetainfoError("ERR_INVALID_ARGUMENT", "issues must be a list of issues.", { cause });
  }
}
export function withPath(error, path) {
  if (!(error instanceof MetainfoError) || error.path !== void 0) return error;
  return Object.assign(error, { path, message: `${path}: ${error.message}` });
}
export function requirePath(path) {
  if (typeof path === "string" && !path.includes("\0")) return;
  throw new MetainfoError("ERR_INVALID_ARGUMENT", `A path must be a string without NUL bytes, not ${shown(path)}.`);
}
const TOO_MANY_OPEN_FILES = {
  EMFILE: "too many files are open in this process (EMFILE): run fewer jobs or threads at once, or raise the limit (ulimit -n)",
  ENFILE: "too many files are open on this system (ENFILE): close other programs, or raise the limit (sysctl fs.file-max)"
};
export function errnoName(errno) {
  return Object.entries(constants.errno).find(([, value]) => value === errno)?.[0];
}
function systemCode({ code, errno }) {
  return code?.startsWith("Unknown") && errno !== void 0 ? errnoName(-errno) : code;
}
export function fromSystemError(error, path, doing) {
  if (error instanceof MetainfoError) return error;
  const options = { path, cause: error };
  const code = systemCode(error);
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
      return new MetainfoError("ERR_NOT_FOUND", `${path}: no such file or folder.${encodingHint(path)}`, options);
    case "EACCES":
    case "EPERM": {
      const permission = doing === "read" ? "ERR_UNREADABLE" : "ERR_WRITE";
      return new MetainfoError(permission, `${path}: no permission to ${doing} it.`, options);
    }
    case "EISDIR":
      return new MetainfoError(
        doing === "read" ? "ERR_NOT_A_FILE" : "ERR_WRITE",
        `${path}: cannot be ${doing === "read" ? "read" : "written"}, because it is a folder.`,
        options
      );
    case "ELOOP":
      return new MetainfoError("ERR_LINK_LOOP", `${path}: its symbolic links lead back to themselves.`, options);
    case "ENOSPC":
      return new MetainfoError("ERR_NO_SPACE", `${path}: the disk is full.`, options);
    case "EDQUOT":
      return new MetainfoError("ERR_NO_SPACE", `${path}: your disk quota is used up.`, options);
    case "EMFILE":
    case "ENFILE":
      return new MetainfoError(
        "ERR_NO_DESCRIPTORS",
        `${path}: cannot ${doing} it, ${TOO_MANY_OPEN_FILES[code]}.`,
        options
      );
    default: {
      const hint = code === "ESTALE" ? ": it was replaced or deleted on its file server, so try again" : "";
      const message = `${path}: cannot ${doing} it (${code ?? error.message})${hint}.`;
      return new MetainfoError(doing === "read" ? "ERR_READ" : "ERR_WRITE", message, options);
    }
  }
}
export function throwSystemError(path, doing) {
  return (error) => {
    throw fromSystemError(error, path, doing);
  };
}
function encodingHint(path) {
  if (!path.includes("\uFFFD")) return "";
  return " If the \uFFFD in it stands for bytes that are not UTF-8, metainfo cannot open it: rename it.";
}
export function shown(value) {
  if (value === void 0) return "nothing";
  if (isUint8Array(value)) return `${value.byteLength} bytes`;
  if (isProxy(value)) return "a proxy";
  if (isMap(value)) return "a dictionary";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "function") return "a function";
  const text = typeof value === "string" ? JSON.stringify(value.slice(0, 100)) : textOf(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
function textOf(value) {
  try {
    const text = String(value);
    return text.startsWith("[object ") ? "an object" : text;
  } catch {
    return typeof value;
  }
}
export function toHex(bytes) {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}
//# sourceMappingURL=data:application/json;base64,ewogICJ2ZXJzaW9uIjogMywKICAic291cmNlcyI6IFsiZXJyb3JzLnRzIl0sCiAgIm1hcHBpbmdzIjogIkFBQ0EsU0FBUyxpQkFBaUI7QUFDMUIsU0FBUyxPQUFPLFNBQVMsb0JBQW9CO0FBNEJ0QyxhQUFNLHNCQUFzQixNQUFNO0FBQUE7QUFBQSxFQUVyQixPQUFlO0FBQUE7QUFBQSxFQUV4QjtBQUFBO0FBQUEsRUFFQTtBQUFBO0FBQUEsRUFFQTtBQUFBO0FBQUE7QUFBQTtBQUFBO0FBQUE7QUFBQTtBQUFBLEVBUVQsWUFBWSxNQUF5QixTQUFpQixFQUFFLE1BQU0sT0FBTyxPQUFPLElBQTBCLENBQUMsR0FBRztBQUN4RyxVQUFNLFNBQVMsVUFBVSxTQUFZLFNBQVksRUFBRSxNQUFNLENBQUM7QUFDMUQsU0FBSyxPQUFPO0FBQ1osUUFBSSxTQUFTLE9BQVcsTUFBSyxPQUFPO0FBQ3BDLFFBQUksV0FBVyxPQUFXLE1BQUssU0FBUztBQUFBLEVBQzFDO0FBQ0Y7QUFxQkEsTUFBTSxpQkFBaUI7QUFpQmhCLGFBQU0sd0JBQXdCLGNBQWM7QUFBQSxFQUMvQixPQUFPO0FBQUE7QUFBQSxFQUVoQjtBQUFBO0FBQUEsRUFFQTtBQUFBO0FBQUE7QUFBQTtBQUFBO0FBQUE7QUFBQSxFQU9ULFlBQVksUUFBMEIsVUFBMEQsV0FBVztBQUN6RyxVQUFNLGtCQUFrQixTQUFTLFFBQVEsT0FBTyxrQkFBa0IsVUFBVSxNQUFNLENBQUMsRUFBRSxDQUFDO0FBQ3RGLFNBQUssU0FBUztBQUNkLFNBQUssVUFBVTtBQUFBLEVBQ2pCO0FBQ0Y7QUFHTyxnQkFBUyxXQUFXLE1BQWMsT0FBOEM7QUFDckYsTUFBSSxVQUFVLEtBQU0sUUFBTztBQUMzQixNQUFJLFNBQVMsU0FBVSxRQUFPLGFBQWEsS0FBSztBQUNoRCxTQUFPLEdBQUcsSUFBSSxLQUFLLE9BQU8sVUFBVSxXQUFXLElBQUksS0FBSyxNQUFNLEtBQUs7QUFDckU7QUFHTyxnQkFBUyxTQUFTLE1BQXNCO0FBQzdDLFNBQU8sS0FBSyxTQUFTLEdBQUcsSUFBSSxPQUFPLEdBQUcsSUFBSTtBQUM1QztBQUVBLFNBQVMsVUFBVSxRQUFrQztBQUNuRCxNQUFJO0FBQ0YsVUFBTSxTQUFTLE9BQU8sT0FBTyxDQUFDLEVBQUUsU0FBUyxNQUFNLGFBQWEsT0FBTztBQUNuRSxVQUFNLFFBQVEsT0FDWCxNQUFNLEdBQUcsY0FBYyxFQUN2QixJQUFJLENBQUMsVUFBVSxHQUFHLE1BQU0sS0FBSyxLQUFLLEdBQUcsS0FBSyxXQUFXLEtBQUssTUFBTSxPQUFPLEVBQUU7QUFDNUUsVUFBTSxPQUFPLE9BQU8sU0FBUyxNQUFNO0FBQ25DLFdBQU8sR0FBRyxNQUFNLEtBQUssSUFBSSxDQUFDLEdBQUcsT0FBTyxJQUFJLFNBQVMsSUFBSSxVQUFVLEVBQUU7QUFBQSxFQUNuRSxTQUFTLE9BQU87QUFDZCxVQUFNLElBQUksY0FBYyx3QkFBd0Isb0NBQW9DLEVBQUUsTUFBTSxDQUFDO0FBQUEsRUFDL0Y7QUFDRjtBQUdPLGdCQUFTLFNBQVMsT0FBZ0IsTUFBdUI7QUFDOUQsTUFBSSxFQUFFLGlCQUFpQixrQkFBa0IsTUFBTSxTQUFTLE9BQVcsUUFBTztBQUMxRSxTQUFPLE9BQU8sT0FBTyxPQUFPLEVBQUUsTUFBTSxTQUFTLEdBQUcsSUFBSSxLQUFLLE1BQU0sT0FBTyxHQUFHLENBQUM7QUFDNUU7QUFHTyxnQkFBUyxZQUFZLE1BQXVDO0FBQ2pFLE1BQUksT0FBTyxTQUFTLFlBQVksQ0FBQyxLQUFLLFNBQVMsSUFBSSxFQUFHO0FBQ3RELFFBQU0sSUFBSSxjQUFjLHdCQUF3QixrREFBa0QsTUFBTSxJQUFJLENBQUMsR0FBRztBQUNsSDtBQUVBLE1BQU0sc0JBQXNCO0FBQUEsRUFDMUIsUUFDRTtBQUFBLEVBQ0YsUUFDRTtBQUNKO0FBR08sZ0JBQVMsVUFBVSxPQUFtQztBQUMzRCxTQUFPLE9BQU8sUUFBUSxVQUFVLEtBQUssRUFBRSxLQUFLLENBQUMsQ0FBQyxFQUFFLEtBQUssTUFBTSxVQUFVLEtBQUssSUFBSSxDQUFDO0FBQ2pGO0FBR0EsU0FBUyxXQUFXLEVBQUUsTUFBTSxNQUFNLEdBQThDO0FBQzlFLFNBQU8sTUFBTSxXQUFXLFNBQVMsS0FBSyxVQUFVLFNBQVksVUFBVSxDQUFDLEtBQUssSUFBSTtBQUNsRjtBQUdPLGdCQUFTLGdCQUFnQixPQUFnQixNQUFjLE9BQXdDO0FBQ3BHLE1BQUksaUJBQWlCLGNBQWUsUUFBTztBQUMzQyxRQUFNLFVBQVUsRUFBRSxNQUFNLE9BQU8sTUFBTTtBQUNyQyxRQUFNLE9BQU8sV0FBVyxLQUE4QjtBQUN0RCxVQUFRLE1BQU07QUFBQSxJQUNaLEtBQUs7QUFBQSxJQUNMLEtBQUs7QUFDSCxhQUFPLElBQUksY0FBYyxpQkFBaUIsR0FBRyxJQUFJLDRCQUE0QixhQUFhLElBQUksQ0FBQyxJQUFJLE9BQU87QUFBQSxJQUM1RyxLQUFLO0FBQUEsSUFDTCxLQUFLLFNBQVM7QUFDWixZQUFNLGFBQWEsVUFBVSxTQUFTLG1CQUFtQjtBQUN6RCxhQUFPLElBQUksY0FBYyxZQUFZLEdBQUcsSUFBSSxzQkFBc0IsS0FBSyxRQUFRLE9BQU87QUFBQSxJQUN4RjtBQUFBLElBQ0EsS0FBSztBQUNILGFBQU8sSUFBSTtBQUFBLFFBQ1QsVUFBVSxTQUFTLG1CQUFtQjtBQUFBLFFBQ3RDLEdBQUcsSUFBSSxlQUFlLFVBQVUsU0FBUyxTQUFTLFNBQVM7QUFBQSxRQUMzRDtBQUFBLE1BQ0Y7QUFBQSxJQUNGLEtBQUs7QUFDSCxhQUFPLElBQUksY0FBYyxpQkFBaUIsR0FBRyxJQUFJLGlEQUFpRCxPQUFPO0FBQUEsSUFDM0csS0FBSztBQUNILGFBQU8sSUFBSSxjQUFjLGdCQUFnQixHQUFHLElBQUksdUJBQXVCLE9BQU87QUFBQSxJQUNoRixLQUFLO0FBQ0gsYUFBTyxJQUFJLGNBQWMsZ0JBQWdCLEdBQUcsSUFBSSxpQ0FBaUMsT0FBTztBQUFBLElBQzFGLEtBQUs7QUFBQSxJQUNMLEtBQUs7QUFDSCxhQUFPLElBQUk7QUFBQSxRQUNUO0FBQUEsUUFDQSxHQUFHLElBQUksWUFBWSxLQUFLLFFBQVEsb0JBQW9CLElBQUksQ0FBQztBQUFBLFFBQ3pEO0FBQUEsTUFDRjtBQUFBLElBQ0YsU0FBUztBQUNQLFlBQU0sT0FBTyxTQUFTLFdBQVcsa0VBQWtFO0FBQ25HLFlBQU0sVUFBVSxHQUFHLElBQUksWUFBWSxLQUFLLFFBQVEsUUFBUyxNQUFnQixPQUFPLElBQUksSUFBSTtBQUN4RixhQUFPLElBQUksY0FBYyxVQUFVLFNBQVMsYUFBYSxhQUFhLFNBQVMsT0FBTztBQUFBLElBQ3hGO0FBQUEsRUFDRjtBQUNGO0FBR08sZ0JBQVMsaUJBQWlCLE1BQWMsT0FBb0Q7QUFDakcsU0FBTyxDQUFDLFVBQVU7QUFDaEIsVUFBTSxnQkFBZ0IsT0FBTyxNQUFNLEtBQUs7QUFBQSxFQUMxQztBQUNGO0FBR0EsU0FBUyxhQUFhLE1BQXNCO0FBQzFDLE1BQUksQ0FBQyxLQUFLLFNBQVMsUUFBUSxFQUFHLFFBQU87QUFDckMsU0FBTztBQUNUO0FBR08sZ0JBQVMsTUFBTSxPQUF3QjtBQUM1QyxNQUFJLFVBQVUsT0FBVyxRQUFPO0FBQ2hDLE1BQUksYUFBYSxLQUFLLEVBQUcsUUFBTyxHQUFHLE1BQU0sVUFBVTtBQUNuRCxNQUFJLFFBQVEsS0FBSyxFQUFHLFFBQU87QUFDM0IsTUFBSSxNQUFNLEtBQUssRUFBRyxRQUFPO0FBQ3pCLE1BQUksTUFBTSxRQUFRLEtBQUssRUFBRyxRQUFPLGFBQWEsTUFBTSxNQUFNO0FBQzFELE1BQUksT0FBTyxVQUFVLFdBQVksUUFBTztBQUN4QyxRQUFNLE9BQU8sT0FBTyxVQUFVLFdBQVcsS0FBSyxVQUFVLE1BQU0sTUFBTSxHQUFHLEdBQUcsQ0FBQyxJQUFJLE9BQU8sS0FBSztBQUMzRixTQUFPLEtBQUssU0FBUyxLQUFLLEdBQUcsS0FBSyxNQUFNLEdBQUcsRUFBRSxDQUFDLFFBQVE7QUFDeEQ7QUFFQSxTQUFTLE9BQU8sT0FBd0I7QUFDdEMsTUFBSTtBQUNGLFVBQU0sT0FBTyxPQUFPLEtBQUs7QUFDekIsV0FBTyxLQUFLLFdBQVcsVUFBVSxJQUFJLGNBQWM7QUFBQSxFQUNyRCxRQUFRO0FBRU4sV0FBTyxPQUFPO0FBQUEsRUFDaEI7QUFDRjtBQUdPLGdCQUFTLE1BQU0sT0FBMkI7QUFDL0MsU0FBTyxPQUFPLEtBQUssTUFBTSxRQUFRLE1BQU0sWUFBWSxNQUFNLFVBQVUsRUFBRSxTQUFTLEtBQUs7QUFDckY7IiwKICAibmFtZXMiOiBbXQp9Cg==
