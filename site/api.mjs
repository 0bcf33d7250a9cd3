// Writes the API reference as Markdown, by task: site/build.mjs calls it.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Application, Comment, CommentTag, Converter, ReflectionFlag, ReflectionKind, TSConfigReader } from 'typedoc';
import { TASKS } from './api-tasks.mjs';

const TASK_OF = new Map(Object.entries(TASKS).flatMap(([task, names]) => names.map((name) => [name, task])));
/** The task of all exports of metainfo-bullmq. */
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

/** Names the errors that are thrown, with links to their classes. Several become one list. */
function nameErrors(comment, module) {
  const tags = comment?.blockTags.filter(({ tag }) => tag === '@throws') ?? [];
  for (const tag of tags) {
    const name = tag.typeAnnotation?.replace(/[{}]/g, '').trim();
    if (!name) continue;
    const target = module.children.find((one) => one.name === name);
    const link = target
      ? { kind: 'inline-tag', tag: '@link', text: name, target }
      : { kind: 'code', text: `\`${name}\`` };
    tag.content.unshift(link, { kind: 'text', text: ': ' });
  }
  if (tags.length < 2) return;
  const [first, ...others] = tags;
  first.content = tags.flatMap(({ content }) => [{ kind: 'text', text: '\n- ' }, ...content]);
  comment.blockTags = comment.blockTags.filter((tag) => !others.includes(tag));
}

/** A part of a comment for another place: names are not looked up again there. */
const plainPart = (part) => (part.kind === 'inline-tag' ? { kind: 'code', text: `\`${part.text}\`` } : { ...part });

/** The exported types that a type consists of, such as `Limits` of `Partial<Limits> & { signal }`. */
function exportsIn({ reflection, types = [], typeArguments = [] }) {
  return [...(reflection ? [reflection] : []), ...[...types, ...typeArguments].flatMap(exportsIn)];
}

/** A parameter without words of its own takes those of its type, such as "Options of verify". */
function describeParameter(one) {
  if (one.kind !== ReflectionKind.Parameter || one.comment?.hasVisibleComponent()) return;
  const { comment } = exportsIn(one.type ?? {}).find((type) => type.comment?.summary.length) ?? {};
  if (comment?.summary.length) one.comment = new Comment(comment.summary.map(plainPart));
}

/** Static members that every error class inherits from Node's `Error`. */
const OF_ERROR = ['captureStackTrace', 'prepareStackTrace', 'stackTraceLimit'];

/** The TypeDoc plugin. */
function byTask({ converter }) {
  converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    const [main] = project.children;
    mergeTorrent(project, main);
    for (const one of project.children.flatMap(({ children }) => children)) {
      one.comment ??= new Comment();
      one.comment.blockTags.push(new CommentTag('@category', [{ kind: 'text', text: taskOf(one) }]));
    }
    for (const one of Object.values(project.reflections).filter(({ name }) => OF_ERROR.includes(name)))
      project.removeReflection(one);
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

/** Exports that do something come before the types that they use. */
const KINDS = ['Function', 'Class', 'Variable'];

/** The kind in the title that TypeDoc gives a page, such as `Function` or `Type Alias`. */
const kindOf = (text) => /^# ([A-Z][A-Za-z ]*): /m.exec(text)?.[1] ?? '';

/**
 * The pages of TypeDoc by the names of ours. A struct and its type have one name, and get one page; so do names that differ in
 * their case, because some file systems cannot hold both. The page of a function comes first.
 */
function pagesByName(files) {
  const pages = new Map();
  const rank = ({ kind }) => (KINDS.indexOf(kind) + KINDS.length + 1) % (KINDS.length + 1);
  const sorted = files.toSorted((a, b) => rank(a) - rank(b) || a.file.length - b.file.length);
  for (const one of sorted) {
    const name = path.join(path.dirname(one.file), path.basename(one.file).replace(/^(API|BullMQ)\.|(-1)?\.md$/g, ''));
    const [known] = [...pages.keys()].filter((other) => other.toLowerCase() === name.toLowerCase());
    pages.set(known ?? name, [...(pages.get(known) ?? []), one]);
  }
  return pages;
}

/** The first sentence of a page, with the texts of its links. */
function summaryOf(text) {
  const [, paragraph = ''] = /^# .*\n+([^\n]+(?:\n[^\n]+)*)/m.exec(text.replace(/^```[\s\S]*?^```$/gm, '')) ?? [];
  const plain = paragraph.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/\s+/g, ' ');
  return /^.*?[.:](?= |$)/.exec(plain)?.[0].replace(/:$/, '.') ?? plain;
}

/** `piece-length` is the page "Piece length". */
const titleOf = (page) => page[0].toUpperCase() + page.slice(1).replaceAll('-', ' ');

/** The titles of static methods name their class: `Torrent.read()`. */
function nameStatic(text) {
  const [, name] = /^# (\w+)/m.exec(text) ?? [];
  return text.replace(/^### (?=\w+\(\)\n(?:(?!#{1,3} ).*\n)*?static )/gm, `### ${name}.`);
}

/** The text of a page of TypeDoc, with links to our pages. */
function cleaned(text, file, nameOf) {
  const withoutWords = text.match(/^\| .* \| - \|$/gm);
  if (withoutWords) throw new Error(`${file}: parameters without a description:\n${withoutWords.join('\n')}`);
  const linked = text
    .replace(/\]\(([^)\s#:]+\.md)/g, (_, link) => {
      const target = nameOf.get(path.posix.join(path.posix.dirname(file), link));
      if (!target) throw new Error(`${file}: ${link}`);
      return `](${path.posix.join('..', target)}.md`;
    })
    .replace(/docs\/([\w/-]+)\.md/g, (_, page) => `[${titleOf(page)}](../../${page}.md)`)
    .replace(/(?<!\[)`(ERR_[A-Z_]+)`/g, '[`$1`](../../errors.md#$1)')
    .replace(/^# (?:Function|Class|Interface|Type Alias|Variable|Enumeration): (.*)$/m, '# $1');
  return nameStatic(linked);
}

/**
 * Writes the reference.
 *
 * @returns The pages: the task, the name, whether it is only a type or a constant, and the first sentence.
 */
export async function writeApi(folder) {
  const app = await Application.bootstrapWithPlugins(
    {
      entryPoints: ['src/index.ts', 'packages/metainfo-bullmq/src/index.ts'],
      tsconfig: 'site/api.tsconfig.json',
      excludeInternal: true,
      excludeProtected: true,
      // The fields of Torrent under a name of their own, and types that are read where they stand.
      intentionallyNotExported: [
        ...['FieldStructs', 'Exposed'],
        // The content of a plan, which is for this package alone.
        ...['PlanFiles', 'PlannedTorrent'],
        ...['ExtraInput', 'HashesInput', 'LayersInput', 'src/model/lazy/flat-tree.ts:FileTree'],
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
      sort: ['kind', 'static-first', 'alphabetical-ignoring-documents'],
      groupOrder: ['Constructors', 'Methods', 'Accessors', 'Properties', '*'],
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
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
  const files = names.map((file) => {
    const text = readFileSync(path.join(folder, file), 'utf8');
    rmSync(path.join(folder, file));
    return { file, text, kind: kindOf(text) };
  });
  const pages = pagesByName(files);
  const nameOf = new Map([...pages].flatMap(([name, parts]) => parts.map(({ file }) => [file, name])));
  return [...pages].map(([place, parts]) => {
    const [first, ...others] = parts.map(({ text, file }) => cleaned(text, file, nameOf));
    writeFileSync(
      path.join(folder, `${place}.md`),
      [first, ...others.map((text) => text.replace(/^#/gm, '##'))].join('\n'),
    );
    const [task, name] = place.split(path.sep);
    return { task, name, isType: !KINDS.slice(0, 2).includes(parts[0].kind), summary: summaryOf(first) };
  });
}
