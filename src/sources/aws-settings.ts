/** Reads the settings that all programs for S3 share: the environment, and the files of the AWS command. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { homeFolder } from '../disk/home-folder.ts';
import { invalidArgument } from '../errors/guard.ts';
import { processView } from '../platform/process.ts';
import type { S3Credentials, S3Options } from './s3-file.ts';

/** Where a bucket is, and who asks. */
export interface AwsSettings {
  region: string | undefined;
  /** The URL of a store that is not Amazon's; null for Amazon. */
  endpoint: string | null;
  /** Gives the credentials. */
  credentials(): Promise<S3Credentials>;
}

type Environment = Readonly<Record<string, string | undefined>>;
type Section = Readonly<Record<string, string | undefined>>;

/** The settings of a request: those that are given, else the environment, else the files. Both are read again, since keys change. */
export async function awsSettings(given: S3Options, env: Environment = processView().env): Promise<AwsSettings> {
  const profile = env['AWS_PROFILE'] || 'default';
  const [keys, config] = await Promise.all([
    sectionOf(fileFor(env['AWS_SHARED_CREDENTIALS_FILE'], 'credentials'), [profile]),
    sectionOf(fileFor(env['AWS_CONFIG_FILE'], 'config'), [
      `profile ${profile}`,
      ...(profile === 'default' ? [profile] : []),
    ]),
  ]);
  return {
    region: given.region || env['AWS_REGION'] || env['AWS_DEFAULT_REGION'] || config['region'] || undefined,
    endpoint: given.endpoint || env['AWS_ENDPOINT_URL_S3'] || env['AWS_ENDPOINT_URL'] || config['endpoint_url'] || null,
    credentials: async () =>
      (typeof given.credentials === 'function' ? await given.credentials() : given.credentials) ??
      fromEnvironment(env) ??
      keysIn(keys) ??
      keysIn(config) ??
      (await fromSdk(profile)),
  };
}

function fileFor(given: string | undefined, name: string): string | null {
  const home = homeFolder();
  return given || (home && path.join(home, '.aws', name));
}

/** The settings of the first of some sections that a file has. A file that cannot be read has none. */
async function sectionOf(file: string | null, names: readonly string[]): Promise<Section> {
  const text = file === null ? '' : await readFile(file, 'utf8').catch(() => '');
  const sections: Record<string, Record<string, string>> = Object.create(null);
  let section: Record<string, string> = {};
  for (const line of text.split(/\r?\n/)) {
    const name = /^\[\s*(.*?)\s*\]/.exec(line)?.[1]?.replace(/\s+/g, ' ');
    if (name !== undefined) {
      sections[name] ??= {};
      section = sections[name];
    }
    // Lines that begin with a space are settings of a setting.
    const [, key, value] = /^(\w+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (key !== undefined && value !== undefined) section[key.toLowerCase()] = value;
  }
  return names.map((name) => sections[name]).find((found) => found !== undefined) ?? {};
}

function fromEnvironment(env: Environment): S3Credentials | null {
  const id = env['AWS_ACCESS_KEY_ID'];
  const secret = env['AWS_SECRET_ACCESS_KEY'];
  const missing = id ? 'AWS_SECRET_ACCESS_KEY' : 'AWS_ACCESS_KEY_ID';
  if (!id !== !secret) throw invalidArgument(`${missing} is missing in the environment: set both, or neither`);
  return keysIn({ aws_access_key_id: id, aws_secret_access_key: secret, aws_session_token: env['AWS_SESSION_TOKEN'] });
}

/** The keys in some settings; null if there are none. */
function keysIn(settings: Section): S3Credentials | null {
  const names = ['aws_access_key_id', 'aws_secret_access_key', 'aws_session_token'];
  const [accessKeyId, secretAccessKey, sessionToken] = names.map((name) => settings[name] || undefined);
  return accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey, sessionToken } : null;
}

const SDK = '@aws-sdk/credential-providers';
/** The providers of profiles. Each asks for new keys when its own expire. */
const providers = new Map<string, () => Promise<S3Credentials>>();

/** The keys of a container, an instance, SSO or a role, as the AWS SDK finds them. */
async function fromSdk(profile: string): Promise<S3Credentials> {
  const sdk = await loadPackage<typeof import('@aws-sdk/credential-providers')>(SDK).catch((cause: unknown) =>
    noCredentials(
      profile,
      `; for those of containers, instances, SSO and roles: npm install ${SDK}, beside metainfo`,
      cause,
    ),
  );
  const provider = providers.get(profile) ?? sdk.fromNodeProviderChain(profile === 'default' ? {} : { profile });
  providers.set(profile, provider);
  return provider().catch((cause: Error) => {
    if (cause.name !== 'CredentialsProviderError') throw cause;
    return noCredentials(profile, ` (${cause.message})`, cause);
  });
}

/** Loads a package of the user. Its name is an argument, so that no bundler looks for it. */
export function loadPackage<T>(name: string): Promise<T> {
  return import(/* webpackIgnore: true */ /* @vite-ignore */ name);
}

function noCredentials(profile: string, more: string, cause: unknown): never {
  throw invalidArgument(
    `no credentials for S3: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write the profile ${profile} to ~/.aws/credentials${more}`,
    { cause },
  );
}
