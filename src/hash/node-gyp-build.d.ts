/** The type of node-gyp-build, which has none of its own. */
declare module 'node-gyp-build' {
  /** Loads the addon of the package in that folder. */
  function nodeGypBuild(folder: string): unknown;
  namespace nodeGypBuild {
    /** The path of what it would load. */
    function resolve(folder: string): string;
  }
  export default nodeGypBuild;
}
