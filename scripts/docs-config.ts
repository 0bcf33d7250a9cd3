// `npm run generate` writes docs/config.schema.json, which the package has, from the options of create.
import { type ConfigOption, configOptions, ruleOptions, type ValueForm } from '../src/cli/config/config-options.ts';

/** A JSON Schema. */
type Schema = Readonly<Record<string, unknown>>;

const SIZE = '[0-9]+\\s*([kKmMgGtT]([iI]?[bB])?|[bB]|bytes?)?';
const TEXTS: Schema = { type: 'array', items: { type: 'string' } };

/** A piece length. */
const LENGTH: Schema = {
  anyOf: [
    { type: 'string', pattern: `^(auto|${SIZE})$` },
    { type: 'integer', minimum: 1 },
  ],
};

/** The schemas of the forms of values. Editors use them; the command checks more, such as powers of two. */
const SCHEMAS: Readonly<Record<ValueForm, Schema>> = {
  flag: { type: 'boolean' },
  choice: { type: 'string' },
  text: { type: 'string' },
  removable: { anyOf: [{ type: 'string' }, { const: false }] },
  length: LENGTH,
  lengths: {
    anyOf: [
      { type: 'string' },
      { type: 'object', propertyNames: { pattern: `^${SIZE}$` }, additionalProperties: LENGTH, minProperties: 1 },
    ],
  },
  size: {
    anyOf: [
      { type: 'string', pattern: `^${SIZE}$` },
      { type: 'integer', minimum: 0 },
    ],
  },
  count: {
    anyOf: [
      { type: 'string', pattern: '^[0-9]+$' },
      { type: 'integer', minimum: 1 },
    ],
  },
  date: { anyOf: [{ type: 'string' }, { const: false }] },
  list: { anyOf: [{ type: 'string' }, TEXTS] },
  tiers: { anyOf: [{ type: 'string' }, { type: 'array', items: { anyOf: [{ type: 'string' }, TEXTS] } }] },
};

/** Returns the JSON Schema (draft 2020-12) of a configuration file. */
function configSchema(): Schema {
  const options = configOptions();
  const table = (description: string, additionalProperties: Schema): Schema => ({
    type: 'object',
    description,
    additionalProperties,
  });
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $comment: '`npm run generate` writes this file from the options of src/cli/commands/create.ts.',
    title: 'The configuration file of metainfo',
    type: 'object',
    properties: {
      create: { description: 'defaults for create and plan', $ref: '#/$defs/options' },
      presets: table('options of create by the name of a preset', { $ref: '#/$defs/options' }),
      trackers: {
        ...table('aliases of trackers', { ...SCHEMAS.tiers }),
        propertyNames: { pattern: '^[A-Za-z0-9_.-]+$' },
      },
      read: {
        type: 'object',
        description: 'how the commands that read torrents validate them',
        properties: { profile: { enum: ['default', 'strict', 'compat'] } },
        additionalProperties: false,
      },
      hosts: table('rules by the host of a tracker', { $ref: '#/$defs/rule' }),
    },
    additionalProperties: false,
    $defs: { options: schemaOf(options.values()), rule: schemaOf(ruleOptions().values()) },
  };
}

function schemaOf(options: Iterable<ConfigOption>): Schema {
  const properties = Array.from(options, ({ key, form, option }): [string, Schema] => {
    const choices = option.argChoices && { enum: option.argChoices };
    return [
      key,
      { description: `${option.negate ? 'false: ' : ''}${option.description}`, ...SCHEMAS[form], ...choices },
    ];
  });
  return { type: 'object', properties: Object.fromEntries(properties), additionalProperties: false };
}

/** Returns the text of docs/config.schema.json. */
export const schemaFile = (): string => `${JSON.stringify(configSchema(), null, 2)}\n`;
