declare module 'node-gyp-build' {
  /** Loads the addon of the package in that folder. */
  export default function nodeGypBuild(folder: string): unknown;
}
