// Writes the API reference as Markdown, by task: site/build.mjs calls it.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Application, Comment, CommentTag, Converter, ReflectionFlag, ReflectionKind, TSConfigReader } from 'typedoc';
import { TASKS } from './api-tasks.mjs';

const TASK_OF = new Map(Object.entries(TASKS).flatMap(([task, names]) => names.map((name) => [name, task])));
/** The task of all exports of metainfo/bullmq. */
export const QUEUES = 'Queues';

/** The task of an export. */
function taskOf({ name, parent }) {
  const task = TASK_OF.get(name) ?? (parent.name === 'BullMQ' ? QUEUES : undefined);
  if (!task) throw new Error(`${name} has no task in site/api-tasks.mjs`);
  return task;
}

/** `Torrent` is a constant with functions that read torrents, and the type of their results: one page has both. */
function mergeTorrent(project, module) {
  const named = (kind, name) => module.children.find((one) => one.kind === kind && one.name === name);
  const torrent = named(ReflectionKind.Class, 'TorrentBase');
  const functions = named(ReflectionKind.Variable, 'Torrent');
  const union = named(ReflectionKind.TypeAlias, 'Torrent');
  for (const method of functions.type.declaration.children) {
    method.setFlag(ReflectionFlag.Static, true);
    method.parent = torrent;
    torrent.addChild(method);
  }
  functions.type.declaration.children = [];
  const text =
    'The type `Torrent` is this class for any version; code that names the class itself calls it `TorrentBase`.';
  torrent.comment.summary.push({ kind: 'text', text: '\n\n' }, ...union.comment.summary, {
    kind: 'text',
    text: `\n\n${text}`,
  });
  torrent.name = 'Torrent';
  for (const merged of [functions, union]) project.removeReflection(merged);
}

/** Names the errors that are thrown, with links to their classes. */
function nameErrors(comment, module) {
  for (const tag of comment?.blockTags ?? []) {
    const name = tag.typeAnnotation?.replace(/[{}]/g, '').trim();
    if (tag.tag !== '@throws' || !name) continue;
    const target = module.children.find((one) => one.name === name);
    const link = target
      ? { kind: 'inline-tag', tag: '@link', text: name, target }
      : { kind: 'code', text: `\`${name}\`` };
    tag.content.unshift(link, { kind: 'text', text: ': ' });
  }
}

/** A part of a comment for another place: names are not looked up again there. */
const plainPart = (part) => (part.kind === 'inline-tag' ? { kind: 'code', text: `\`${part.text}\`` } : { ...part });

/** A parameter without words of its own takes those of its type, such as "Options of verify". */
function describeParameter(one) {
  if (one.kind !== ReflectionKind.Parameter || one.comment?.hasVisibleComponent()) return;
  const { comment } = one.type?.reflection ?? {};
  if (comment?.summary.length) one.comment = new Comment(comment.summary.map(plainPart));
}

/** The TypeDoc plugin. */
function byTask({ converter }) {
  converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    const [main] = project.children;
    mergeTorrent(project, main);
    for (const one of project.children.flatMap(({ children }) => children)) {
      one.comment ??= new Comment();
      one.comment.blockTags.push(new CommentTag('@category', [{ kind: 'text', text: taskOf(one) }]));
    }
    for (const one of Object.values(project.reflections)) {
      // Interfaces that are not exported tell readers nothing.
      if (one.implementedTypes?.every(({ reflection }) => !reflection)) one.implementedTypes = undefined;
      if (one.implementationOf && !one.implementationOf.reflection) one.implementationOf = undefined;
      // A parameter that is taken apart in the head of its function.
      if (one.name === '__namedParameters') one.name = 'options';
      nameErrors(one.comment, main);
      describeParameter(one);
    }
  });
}

/**
 * The pages of TypeDoc by the names of ours. A struct and its type have one name, and get one page; so do names that differ in
 * their case, because some file systems cannot hold both.
 */
function pagesByName(files) {
  const pages = new Map();
  const sorted = files.toSorted((a, b) => a.length - b.length);
  for (const file of sorted) {
    const name = path.join(path.dirname(file), path.basename(file).replace(/^(API|BullMQ)\.|(-1)?\.md$/g, ''));
    const [known] = [...pages.keys()].filter((other) => other.toLowerCase() === name.toLowerCase());
    pages.set(known ?? name, [...(pages.get(known) ?? []), file]);
  }
  return pages;
}

/** `piece-length` is the page "Piece length". */
const titleOf = (page) => page[0].toUpperCase() + page.slice(1).replaceAll('-', ' ');

/** The text of a page of TypeDoc, with links to our pages. */
function cleaned(text, file, nameOf) {
  const withoutWords = text.match(/^\| .* \| - \|$/gm);
  if (withoutWords) throw new Error(`${file}: parameters without a description:\n${withoutWords.join('\n')}`);
  return text
    .replace(/\]\(([^)\s#:]+\.md)/g, (_, link) => {
      const target = nameOf.get(path.posix.join(path.posix.dirname(file), link));
      if (!target) throw new Error(`${file}: ${link}`);
      return `](${path.posix.join('..', target)}.md`;
    })
    .replace(/docs\/([\w/-]+)\.md/g, (_, page) => `[${titleOf(page)}](../../${page}.md)`)
    .replace(/(?<!\[)`(ERR_[A-Z_]+)`/g, '[`$1`](../../errors.md#$1)')
    .replace(/^# (?:Function|Class|Interface|Type Alias|Variable|Enumeration): (.*)$/m, '# $1');
}

/**
 * Writes the reference.
 *
 * @returns The names of the exports by task.
 */
export async function writeApi(folder) {
  const app = await Application.bootstrapWithPlugins(
    {
      entryPoints: ['src/index.ts', 'src/bullmq/index.ts'],
      tsconfig: 'tsconfig.build.json',
      excludeInternal: true,
      excludeProtected: true,
      // Parameters for tests, the fields of Torrent under a name of their own, and types that are read where they stand.
      intentionallyNotExported: [
        ...['Addon', 'FieldStructs', 'Exposed'],
        ...['ExtraInput', 'HashesInput', 'LayersInput', 'src/model/flat-tree.ts:FileTree'],
      ],
      validation: { notDocumented: true },
      // Members of an enum are those of a constant, whose values say what they mean.
      requiredToBeDocumented: [
        ...['Enum', 'Variable', 'Function', 'Class', 'Interface', 'TypeAlias'],
        ...['Constructor', 'Property', 'Method', 'Accessor'],
      ],
      plugin: ['typedoc-plugin-markdown', byTask],
      outputs: [{ name: 'markdown', path: folder }],
      readme: 'none',
      router: 'category',
      categorizeByGroup: false,
      preservedTypeAnnotationTags: ['@throws'],
      disableSources: true,
      hideBreadcrumbs: true,
      hidePageHeader: true,
      useCodeBlocks: true,
      useHTMLAnchors: true,
      expandParameters: false,
      parametersFormat: 'table',
      interfacePropertiesFormat: 'list',
      tableColumnSettings: { leftAlignHeaders: true },
      logLevel: 'Warn',
    },
    [new TSConfigReader()],
  );
  const project = await app.convert();
  if (!project) throw new Error('TypeDoc failed');
  app.validate(project);
  await app.generateOutputs(project);
  if (app.logger.hasErrors() || app.logger.hasWarnings()) throw new Error('TypeDoc failed: see above');
  rmSync(path.join(folder, 'Other'), { recursive: true, force: true });
  rmSync(path.join(folder, 'README.md'));
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
  const pages = pagesByName(files);
  const nameOf = new Map([...pages].flatMap(([name, parts]) => parts.map((part) => [part, name])));
  const byName = {};
  for (const [name, parts] of pages) {
    const texts = parts.map((file) => cleaned(readFileSync(path.join(folder, file), 'utf8'), file, nameOf));
    for (const file of parts) rmSync(path.join(folder, file));
    const [first, ...others] = texts;
    writeFileSync(
      path.join(folder, `${name}.md`),
      [first, ...others.map((text) => text.replace(/^#/gm, '##'))].join('\n'),
    );
    const task = path.dirname(name);
    byName[task] = [...(byName[task] ?? []), path.basename(name)];
  }
  return byName;
}
