"""Certificates of our own making: an authority for one installation, and what it vouches for.

Files are made once and kept: who comes back finds the authority that its clients know already.
Keys are for their owner's eyes alone from their first byte on disk.
"""

import datetime
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LIFE = datetime.timedelta(days=3650)
CLOCK_SKEW = datetime.timedelta(minutes=5)

Extension = tuple[x509.ExtensionType, bool]


@dataclass(frozen=True, slots=True)
class Authority:
    certificate: Path
    key: Path


def make_authority(folder: Path) -> Authority:
    """The authority that lives in this folder, made now if there is none."""
    authority = Authority(folder / "ca.crt", folder / "ca.key")
    if not (authority.certificate.exists() and authority.key.exists()):
        key = ec.generate_private_key(ec.SECP256R1())
        name = _name("Tutti authority")
        certificate = _signed(
            name,
            key,
            issuer=name,
            issuer_key=key,
            extensions=(
                (x509.BasicConstraints(ca=True, path_length=0), True),
                (_usage(signs_certificates=True), True),
            ),
        )
        _write_key(authority.key, key)
        authority.certificate.write_bytes(certificate)
    return authority


def issue(authority: Authority, folder: Path, name: str, hosts: Sequence[str]) -> tuple[Path, Path]:
    """A server's certificate and key in NAME.crt and NAME.key, good for these names and addresses.

    One that is there already and covers the hosts stays.
    """
    certificate, key = folder / f"{name}.crt", folder / f"{name}.key"
    if not (key.exists() and certificate.exists() and _covers(certificate, hosts)):
        issuer = x509.load_pem_x509_certificate(authority.certificate.read_bytes())
        issuer_key = serialization.load_pem_private_key(authority.key.read_bytes(), None)
        assert isinstance(issuer_key, ec.EllipticCurvePrivateKey)
        own_key = ec.generate_private_key(ec.SECP256R1())
        signed = _signed(
            _name(f"Tutti {name}"),
            own_key,
            issuer=issuer.subject,
            issuer_key=issuer_key,
            extensions=(
                (x509.BasicConstraints(ca=False, path_length=None), True),
                (_usage(signs_certificates=False), True),
                (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), False),
                (x509.SubjectAlternativeName([_general_name(host) for host in hosts]), False),
            ),
        )
        _write_key(key, own_key)
        certificate.write_bytes(signed)
    return certificate, key


def _signed(
    subject: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    *,
    issuer: x509.Name,
    issuer_key: ec.EllipticCurvePrivateKey,
    extensions: Sequence[Extension],
) -> bytes:
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCK_SKEW)
        .not_valid_after(now + LIFE)
    )
    identifiers: tuple[Extension, ...] = (
        (x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False),
        (x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), False),
    )
    for extension, critical in (*extensions, *identifiers):
        builder = builder.add_extension(extension, critical)
    return builder.sign(issuer_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def _covers(certificate: Path, hosts: Sequence[str]) -> bool:
    names = x509.load_pem_x509_certificate(certificate.read_bytes()).extensions
    covered = names.get_extension_for_class(x509.SubjectAlternativeName).value
    return all(_general_name(host) in covered for host in hosts)


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _write_key(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
