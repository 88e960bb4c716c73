USE [master]
GO
/****** Object:  Database [Shop]    Script Date: 5/1/2024 12:00:00 PM ******/
CREATE DATABASE [Shop]
 CONTAINMENT = NONE
 ON  PRIMARY 
( NAME = N'Shop', FILENAME = N'C:\Data\Shop.mdf' , SIZE = 8192KB , MAXSIZE = UNLIMITED, FILEGROWTH = 65536KB )
GO
ALTER DATABASE [Shop] SET COMPATIBILITY_LEVEL = 150
GO
IF (1 = FULLTEXTSERVICEPROPERTY('IsFullTextInstalled'))
begin
EXEC [Shop].[dbo].[sp_fulltext_database] @action = 'enable'
end
GO
USE [Shop]
GO
/****** Object:  UserDefinedDataType [dbo].[Phone]    Script Date: 5/1/2024 ******/
CREATE TYPE [dbo].[Phone] FROM [nvarchar](25) NULL
GO
SET ANSI_NULLS ON
GO
SET QUOTED_IDENTIFIER ON
GO
CREATE TABLE [dbo].[Customers](
	[Id] [int] IDENTITY(1,1) NOT NULL,
	[Mail] [nvarchar](255) COLLATE SQL_Latin1_General_CP1_CI_AS NOT NULL,
	[Phone] [dbo].[Phone] NULL,
	[Full Name] [nvarchar](max) NULL,
	[Balance] [money] NOT NULL,
	[Rate] [decimal](18, 4) NULL,
	[Created] [datetime] NOT NULL,
	[Updated] [datetime2](7) NULL,
	[At] [datetimeoffset](3) NULL,
	[RowGuid] [uniqueidentifier] ROWGUIDCOL  NOT NULL,
	[Version] [timestamp] NOT NULL,
	[Total]  AS ([Balance]*(2)) PERSISTED,
	[Doc] [xml](CONTENT [dbo].[Docs]) NULL,
 CONSTRAINT [PK_Customers] PRIMARY KEY CLUSTERED 
(
	[Id] ASC
)WITH (PAD_INDEX = OFF, STATISTICS_NORECOMPUTE = OFF, IGNORE_DUP_KEY = OFF, ALLOW_ROW_LOCKS = ON, ALLOW_PAGE_LOCKS = ON) ON [PRIMARY]
) ON [PRIMARY] TEXTIMAGE_ON [PRIMARY]
GO
IF NOT EXISTS (SELECT * FROM sys.objects WHERE object_id = OBJECT_ID(N'[dbo].[Orders]') AND type in (N'U'))
BEGIN
CREATE TABLE [dbo].[Orders](
	[No] [bigint] NOT NULL PRIMARY KEY,
	[CustomerId] [int] NOT NULL,
	[State] [char](3) NOT NULL DEFAULT ('new'),
	[Placed] [date] NOT NULL,
	[Bits] [varbinary](max) NULL
) ON [PRIMARY]
END
GO
CREATE VIEW [dbo].[OpenOrders]
AS
SELECT [No]
FROM [dbo].[Orders]
WHERE [State] = 'new'
GO
CREATE PROCEDURE [dbo].[Clean]
	@Days int = 5
AS
BEGIN
	SET NOCOUNT ON;
	CREATE TABLE #tmp (a int);
	DELETE FROM [dbo].[Orders] WHERE [Placed] < DATEADD(day, -@Days, GETDATE());
	DROP TABLE [dbo].[Orders];
END
GO
CREATE NONCLUSTERED INDEX [IX_Orders] ON [dbo].[Orders]
(
	[CustomerId] ASC
)INCLUDE([State]) WITH (FILLFACTOR = 80) ON [PRIMARY]
GO
ALTER TABLE [dbo].[Customers] ADD  CONSTRAINT [DF_Created]  DEFAULT (getdate()) FOR [Created]
GO
ALTER TABLE [dbo].[Orders]  WITH CHECK ADD  CONSTRAINT [FK_Orders] FOREIGN KEY([CustomerId])
REFERENCES [dbo].[Customers] ([Id])
ON DELETE CASCADE
GO
ALTER TABLE [dbo].[Orders] CHECK CONSTRAINT [FK_Orders]
GO
INSERT [dbo].[Customers] ([Id], [Mail]) VALUES (1, N'it''s; ann')
INSERT [dbo].[Customers] ([Id], [Mail]) VALUES (2, N'b')
GO
CREATE TABLE dbo.Notes (
	Id int NOT NULL,
	Body text,
	Price smallmoney NULL,
	Flag bit NOT NULL CONSTRAINT DF_Flag DEFAULT (0),
)
CREATE TABLE dbo.Tags (Id int NOT NULL, Name sysname)
ALTER TABLE dbo.Tags
ADD Color varchar(10) NULL,
	Size tinyint NOT NULL
ALTER TABLE dbo.Tags
ALTER COLUMN Name nvarchar(50) NOT NULL
GO
EXEC sys.sp_addextendedproperty @name=N'MS_Description', @value=N'who buys; it''s us' , @level0type=N'SCHEMA',@level0name=N'dbo', @level1type=N'TABLE',@level1name=N'Customers'
GO
EXEC sys.sp_addextendedproperty @name=N'MS_Description', @value=N'where to write' , @level0type=N'SCHEMA',@level0name=N'dbo', @level1type=N'TABLE',@level1name=N'Customers', @level2type=N'COLUMN',@level2name=N'Mail'
GO
